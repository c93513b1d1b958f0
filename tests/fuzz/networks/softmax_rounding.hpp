// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/reference.hpp>

#include <cmath>
#include <limits>
#include <string>

// What one rounding does to the gradient of a softmax, y_c (d_c - sum over k of y_k d_k). Where y_c
// is exactly one, as for attention to one key, backend reference finds a gradient of exactly zero,
// whatever its inputs; a backend that rounds y, or that sums the products d_k y_k elsewhere, as a
// fused attention does, finds one rounding of d_c.

namespace networks {

/// Adds one rounding of its terms to a number, up or down by where it is.
template <class A> struct OneRounding {
  static A of(A terms, long at) {
    // Of mixed bits: no line of numbers at a fixed distance has all signs the same.
    bool const up = __builtin_parityl(static_cast<unsigned long>(at) * 0x9e3779b97f4a7c15u >> 20);
    return std::numeric_limits<A>::epsilon() / 2 * (up ? terms : -terms);
  }
};

template <class Op, class P> struct SoftmaxRoundingKernels;

template <class P> struct SoftmaxRoundingKernels<phyllo::op::Softmax, P> {
  using Op = phyllo::op::Softmax;
  using A = typename P::accumulate;

  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    phyllo::reference::Kernels<Op, P>::run(exec, label, work);
    if constexpr (requires { work.d_x; })
      for (long r = 0; r < work.rows; ++r) {
        long const first = r * work.channels;
        A sum = 0;
        for (long i = first; i < first + work.channels; ++i)
          sum += std::abs(work.y[i] * work.d_y[i]);
        for (long i = first; i < first + work.channels; ++i)
          work.d_x[i] += OneRounding<A>::of(work.y[i] * (std::abs(work.d_y[i]) + sum), i);
      }
  }
};

template <bool Logarithm, class P>
struct SoftmaxRoundingKernels<phyllo::op::AxisSoftmax<Logarithm>, P> {
  using Op = phyllo::op::AxisSoftmax<Logarithm>;
  using A = typename P::accumulate;

  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    phyllo::reference::Kernels<Op, P>::run(exec, label, work);
    if constexpr (requires { work.d_x; })
      for (long o = 0; o < work.outer; ++o)
        for (int i = 0; i < work.inner; ++i) add_to_line(work, o * work.extent * work.inner + i);
  }

 private:
  template <class Work> static void add_to_line(Work const& work, long first) {
    long const end = first + long(work.extent) * work.inner;
    A sum = 0;
    for (long i = first; i < end; i += work.inner)
      sum += std::abs((Logarithm ? A(1) : work.y[i]) * work.d_y[i]);
    for (long i = first; i < end; i += work.inner) {
      A const d = std::abs(work.d_y[i]);
      A const terms = Logarithm ? d + std::exp(work.y[i]) * sum : work.y[i] * (d + sum);
      work.d_x[i] += OneRounding<A>::of(terms, i);
    }
  }
};

/// Softmaxes of backend reference with one rounding more; nothing else.
struct SoftmaxRoundingBackend {
  static constexpr char const* name = "softmax_rounding";
  template <class Op, class Precision> using kernels = SoftmaxRoundingKernels<Op, Precision>;
};

}  // namespace networks
