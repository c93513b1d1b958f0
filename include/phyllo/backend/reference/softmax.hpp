// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/softmax.hpp>

#include <cmath>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Softmax, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Softmax::Forward<P> const& work) {
    wait(exec);
    for (long r = 0; r < work.rows; ++r) {
      S const* const x = work.x + r * work.channels;
      A largest = A(x[0]);
      for (int c = 1; c < work.channels; ++c) largest = std::fmax(largest, A(x[c]));
      A sum = 0;
      for (int c = 0; c < work.channels; ++c) sum += std::exp(A(x[c]) - largest);
      for (int c = 0; c < work.channels; ++c)
        work.y[r * work.channels + c] = S(std::exp(A(x[c]) - largest) / sum);
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Softmax::Backward<P> const& work) {
    wait(exec);
    for (long r = 0; r < work.rows; ++r) {
      S const* const y = work.y + r * work.channels;
      S const* const d_y = work.d_y + r * work.channels;
      A dot = 0;
      for (int c = 0; c < work.channels; ++c) dot += A(y[c]) * A(d_y[c]);
      for (int c = 0; c < work.channels; ++c) {
        S& d_x = work.d_x[r * work.channels + c];
        A const d = A(y[c]) * (A(d_y[c]) - dot);
        d_x = S(work.accumulate ? A(d_x) + d : d);
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
