// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/fourier.hpp>

#include <cmath>
#include <complex>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Fourier, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Fourier::Transform<P> const& work) {
    wait(exec);
    FourierAxis const& axis = work.axis;
    int const from = work.to_space ? axis.modes : axis.length;
    int const to = work.to_space ? axis.length : axis.modes;
    int const frequencies = 2 * axis.channels;
    int const x_channels = work.to_space ? frequencies : axis.space_channels();
    int const y_channels = work.to_space ? axis.space_channels() : frequencies;
    for (long b = 0; b < long(work.batch) * axis.before; ++b)
      for (int o = 0; o < to; ++o)
        for (int a = 0; a < axis.after; ++a)
          for (int c = 0; c < axis.channels; ++c) {
            std::complex<A> sum = 0;
            for (int i = 0; i < from; ++i) {
              S const* const x = work.x + ((b * from + i) * axis.after + a) * x_channels + c;
              A const imaginary = x_channels > axis.channels ? A(x[axis.channels]) : A(0);
              std::complex<A> const number{A(x[0]), imaginary};
              sum += (work.to_space ? factor(axis, i, o) : std::conj(factor(axis, o, i))) * number;
            }
            S* const y = work.y + ((b * to + o) * axis.after + a) * y_channels + c;
            y[0] = S(work.accumulate ? A(y[0]) + sum.real() : sum.real());
            if (y_channels == axis.channels) continue;
            S& imaginary = y[axis.channels];
            imaginary = S(work.accumulate ? A(imaginary) + sum.imag() : sum.imag());
          }
  }

 private:
  static std::complex<A> factor(FourierAxis const& axis, int mode, int j) {
    double const turns = double(axis.frequency(mode)) * j / axis.length;
    double const angle = 6.283185307179586476925286766559 * (turns - std::floor(turns));
    return std::complex<A>(A(axis.weight(mode) * std::cos(angle)),
                           A(axis.weight(mode) * std::sin(angle)));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
