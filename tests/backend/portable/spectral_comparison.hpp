// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/fourier.hpp>
#include <phyllo/backend/portable/spectral_product.hpp>
#include <phyllo/backend/reference/fourier.hpp>
#include <phyllo/backend/reference/spectral_product.hpp>

#include <backend/portable/comparison.hpp>

namespace phyllo::test {

/// A transform of one axis, both ways, by a backend against the reference.
template <class P, template <class, class> class Kernels>
void compare_fourier(int batch, FourierAxis axis) {
  using S = typename P::storage;
  INFO("before ", axis.before, " after ", axis.after, " channels ", axis.channels, " length ",
       axis.length, " modes ", axis.modes, " real ", axis.is_real, " inverse ", axis.is_inverse);
  long const lines = long(batch) * axis.before * axis.after;
  long const in_space = lines * axis.length * axis.space_channels();
  long const in_frequencies = lines * axis.modes * 2 * axis.channels;
  for (bool const to_space : {false, true}) {
    auto const x = numbers<S>(to_space ? in_frequencies : in_space, 1);
    op::Fourier::Transform<P> work{batch, axis, to_space, x.data()};
    for (bool const accumulate : {false, true}) {
      work.accumulate = accumulate;
      compare<op::Fourier, P, Kernels>(work, 2 * bound<P>(),
                                       output<S>(to_space ? in_space : in_frequencies, accumulate,
                                                 [](auto& w, S* y) { w.y = y; }));
    }
  }
}

/// The three passes of a product of complex matrices.
template <class P, template <class, class> class Kernels>
void compare_spectral_product(op::SpectralProduct::Sizes const& s) {
  using Op = op::SpectralProduct;
  using S = typename P::storage;
  using A = typename P::accumulate;
  INFO("batch ", s.batch, " modes ", s.modes, " inputs ", s.inputs, " outputs ", s.outputs);
  long const rows = long(s.batch) * s.modes * 2, weights = 2L * s.modes * s.inputs * s.outputs;
  auto const x = numbers<S>(rows * s.inputs, 1), d_y = numbers<S>(rows * s.outputs, 2),
             weight = numbers<S>(weights, 3);
  double const tolerance = 2 * bound<P>();
  compare<Op, P, Kernels>(typename Op::template Forward<P>{s, x.data(), weight.data()}, tolerance,
                          output<S>(rows * s.outputs, [](auto& w, S* y) { w.y = y; }));
  for (bool const accumulate : {false, true}) {
    typename Op::template BackwardSource<P> source{s, d_y.data(), weight.data()};
    source.accumulate = accumulate;
    compare<Op, P, Kernels>(
        source, tolerance,
        output<S>(rows * s.inputs, accumulate, [](auto& w, S* d_x) { w.d_x = d_x; }));
  }
  compare<Op, P, Kernels>(typename Op::template BackwardParameters<P>{s, x.data(), d_y.data()},
                          tolerance, output<A>(weights, [](auto& w, A* d) { w.d_weight = d; }));
}

/// Channels around vectors and their pairs, rows of the matrix around blocks and what work memory
/// holds at a time.
template <class P, template <class, class> class Kernels> void compare_spectral() {
  for (int const channels : {1, 3, 4, 5, 8, 15, 16, 17, 33, 40})
    for (bool const is_real : {true, false}) {
      FourierAxis axis;
      axis.before = 3;
      axis.after = is_real ? 1 : 2;
      axis.channels = channels;
      axis.length = 7;
      axis.modes = is_real ? 3 : 6;
      axis.is_real = is_real;
      axis.both_signs = !is_real;
      compare_fourier<P, Kernels>(2, axis);
      axis.length = 12;
      axis.is_inverse = true;
      axis.modes = is_real ? 7 : 12;
      compare_fourier<P, Kernels>(1, axis);
    }
  FourierAxis longer;
  longer.channels = 18;
  longer.length = 515;
  longer.modes = 10;
  longer.both_signs = true;
  compare_fourier<P, Kernels>(1, longer);
  longer.length = 9001;
  longer.modes = 4;
  compare_fourier<P, Kernels>(1, longer);

  for (int const inputs : {1, 4, 7, 16, 17})
    for (int const outputs : {2, 5, 8, 16, 35})
      compare_spectral_product<P, Kernels>({5, 3, inputs, outputs});
  for (int const batch : {1, 3, 4, 8}) compare_spectral_product<P, Kernels>({batch, 4, 20, 18});
  compare_spectral_product<P, Kernels>({700, 2, 20, 19});
  compare_spectral_product<P, Kernels>({2, 1, 130, 140});
}

}  // namespace phyllo::test
