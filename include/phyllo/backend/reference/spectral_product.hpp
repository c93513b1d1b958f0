// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/spectral_product.hpp>

#include <complex>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::SpectralProduct, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::SpectralProduct::Forward<P> const& work) {
    wait(exec);
    auto const [batch, modes, inputs, outputs] = work.sizes;
    for (long r = 0; r < long(batch) * modes; ++r)
      for (int o = 0; o < outputs; ++o) {
        std::complex<A> sum = 0;
        for (int i = 0; i < inputs; ++i)
          sum += weight(work, int(r % modes), i, o) * at(work.x, r, inputs, i);
        work.y[r * 2 * outputs + o] = S(sum.real());
        work.y[r * 2 * outputs + outputs + o] = S(sum.imag());
      }
  }
  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::SpectralProduct::BackwardSource<P> const& work) {
    wait(exec);
    auto const [batch, modes, inputs, outputs] = work.sizes;
    for (long r = 0; r < long(batch) * modes; ++r)
      for (int i = 0; i < inputs; ++i) {
        std::complex<A> sum = 0;
        for (int o = 0; o < outputs; ++o)
          sum += std::conj(weight(work, int(r % modes), i, o)) * at(work.d_y, r, outputs, o);
        S* const d_x = work.d_x + r * 2 * inputs + i;
        d_x[0] = S(work.accumulate ? A(d_x[0]) + sum.real() : sum.real());
        d_x[inputs] = S(work.accumulate ? A(d_x[inputs]) + sum.imag() : sum.imag());
      }
  }
  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::SpectralProduct::BackwardParameters<P> const& work) {
    wait(exec);
    auto const [batch, modes, inputs, outputs] = work.sizes;
    for (int m = 0; m < modes; ++m)
      for (int i = 0; i < inputs; ++i)
        for (int o = 0; o < outputs; ++o) {
          std::complex<A> sum = 0;
          for (int n = 0; n < batch; ++n) {
            long const row = long(n) * modes + m;
            sum += std::conj(at(work.x, row, inputs, i)) * at(work.d_y, row, outputs, o);
          }
          work.d_weight[((m * 2L + 0) * inputs + i) * outputs + o] = sum.real();
          work.d_weight[((m * 2L + 1) * inputs + i) * outputs + o] = sum.imag();
        }
  }

 private:
  static std::complex<A> at(S const* x, long row, int channels, int c) {
    return {A(x[row * 2 * channels + c]), A(x[row * 2 * channels + channels + c])};
  }
  template <class Work> static std::complex<A> weight(Work const& work, int m, int i, int o) {
    auto const& s = work.sizes;
    long const real = ((m * 2L + 0) * s.inputs + i) * s.outputs + o;
    return {A(work.weight[real]), A(work.weight[real + long(s.inputs) * s.outputs])};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
