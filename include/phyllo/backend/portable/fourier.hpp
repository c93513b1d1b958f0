// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/fourier.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: `block` complex channels of one result, so that its angles serve all of them.
template <class P> struct fourier_transform {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Fourier::Transform<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    FourierAxis const& axis = work.axis;
    int const blocks = int(blocks_of(axis.channels, block));
    int const from = work.to_space ? axis.modes : axis.length;
    int const to = work.to_space ? axis.length : axis.modes;
    int const first = int(item % blocks) * block;
    int const count = axis.channels - first < block ? axis.channels - first : block;
    long const row = item / blocks, after = row % axis.after, rest = row / axis.after;
    int const o = int(rest % to);
    long const before = rest / to;
    A real[block] = {}, imaginary[block] = {};
    if (work.to_space)
      sum<true>(before, after, first, count, o, from, real, imaginary);
    else
      sum<false>(before, after, first, count, o, from, real, imaginary);
    int const channels = work.to_space ? axis.space_channels() : 2 * axis.channels;
    S* const y = work.y + ((before * to + o) * axis.after + after) * channels + first;
    write(y, real, count);
    if (channels > axis.channels) write(y + axis.channels, imaginary, count);
  }

 private:
  template <bool ToSpace>
  PHYLLO_FUNCTION void sum(long before, long after, int first, int count, int o, int from, A* real,
                           A* imaginary) const {
    FourierAxis const& axis = work.axis;
    int const channels = ToSpace ? 2 * axis.channels : axis.space_channels();
    bool const is_complex = channels > axis.channels;
    S const* x = work.x + (before * from * axis.after + after) * channels + first;
    // exp(2 pi i f(k) j / length), along k or along j
    FourierAngles angles(ToSpace ? o : axis.frequency(o), axis.length);
    A const weight = ToSpace ? A(1) : A(axis.weight(o));
    for (int i = 0; i < from; ++i, angles.next(), x += long(axis.after) * channels) {
      if (ToSpace && axis.both_signs && 2 * i == axis.modes)
        angles = FourierAngles(o, axis.length, axis.frequency(i));
      double const of_mode = ToSpace ? axis.weight(i) : 1.0;
      A const c = A(of_mode * angles.cosine), s = A(of_mode * (ToSpace ? 1 : -1) * angles.sine);
      for (int k = 0; k < count; ++k) {
        A const x_real = A(x[k]);
        real[k] += c * x_real;
        imaginary[k] += s * x_real;
      }
      if (!is_complex) continue;
      for (int k = 0; k < count; ++k) {
        A const x_imaginary = A(x[axis.channels + k]);
        real[k] -= s * x_imaginary;
        imaginary[k] += c * x_imaginary;
      }
    }
    for (int k = 0; k < count; ++k) real[k] *= weight, imaginary[k] *= weight;
  }
  PHYLLO_FUNCTION void write(S* y, A const* sums, int count) const {
    for (int k = 0; k < count; ++k) y[k] = S(work.accumulate ? A(y[k]) + sums[k] : sums[k]);
  }
};

template <class P> struct Kernels<op::Fourier, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Fourier::Transform<P> const& work) {
    FourierAxis const& axis = work.axis;
    long const rows = long(work.batch) * axis.before * (work.to_space ? axis.length : axis.modes);
    launch(exec, label, rows * axis.after * blocks_of(axis.channels, block),
           fourier_transform<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
