// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/core/elementary.hpp>
#include <phyllo/op/softmax.hpp>

namespace phyllo::portable {

/// One work item: one row.
template <class P> struct softmax_forward {
  using A = typename P::accumulate;
  op::Softmax::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long r) const {
    auto const* const x = work.x + r * work.channels;
    auto* const y = work.y + r * work.channels;
    A largest = A(x[0]);
    for (int c = 1; c < work.channels; ++c) largest = A(x[c]) > largest ? A(x[c]) : largest;
    A sum = 0;
    for (int c = 0; c < work.channels; ++c) sum += exponential(A(x[c]) - largest);
    for (int c = 0; c < work.channels; ++c)
      y[c] = typename P::storage(exponential(A(x[c]) - largest) / sum);
  }
};

template <class P> struct softmax_backward {
  using A = typename P::accumulate;
  op::Softmax::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long r) const {
    auto const* const y = work.y + r * work.channels;
    auto const* const d_y = work.d_y + r * work.channels;
    auto* const d_x = work.d_x + r * work.channels;
    A dot = 0;
    for (int c = 0; c < work.channels; ++c) dot += A(y[c]) * A(d_y[c]);
    for (int c = 0; c < work.channels; ++c) {
      A const d = A(y[c]) * (A(d_y[c]) - dot);
      d_x[c] = typename P::storage(work.accumulate ? A(d_x[c]) + d : d);
    }
  }
};

template <class P> struct Kernels<op::Softmax, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Softmax::Forward<P> const& work) {
    launch(exec, label, work.rows, softmax_forward<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Softmax::Backward<P> const& work) {
    launch(exec, label, work.rows, softmax_backward<P>{work});
  }
};

}  // namespace phyllo::portable
