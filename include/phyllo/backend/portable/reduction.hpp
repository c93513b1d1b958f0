// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/reduction.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Whether a is the maximum rather than b, which is before it. A not-a-number is larger than any
/// number.
template <class A> PHYLLO_INLINE bool is_larger(A a, A b) { return a > b || (a != a && b == b); }
template <class A> PHYLLO_INLINE bool is_equal(A a, A b) { return a == b || (a != a && b != b); }

/// One work item: one number of the result.
template <op::ReductionKind Kind, class P> struct reduction_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Reduction<Kind>::template Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    op::ReductionWindows const& windows = work.windows;
    int const channels = windows.input.channels, outputs = windows.output.channels;
    long const row = at / outputs;
    op::ReductionBox const box = windows.window(int(row % windows.output.positions()));
    S const* const x = work.x + row / windows.output.positions() * windows.input.size();
    int const c = int(at % outputs), joined = windows.channels();
    int best = -1, equal = 0;
    A total = 0;
    for (int d = box.first[0]; d < box.last[0]; ++d)
      for (int h = box.first[1]; h < box.last[1]; ++h) {
        A sum = 0;
        for (int w = box.first[2]; w < box.last[2]; ++w) {
          int const first = op::ReductionWindows::position(windows.input, d, h, w) * channels + c;
          for (int i = first; i < first + joined; ++i) {
            if constexpr (op::is_maximum(Kind)) {
              A const value = A(x[i]);
              if (best < 0 || is_larger(value, total)) {
                best = i;
                equal = 0;
                total = value;
              }
              equal += is_equal(value, total) ? 1 : 0;
            } else {
              sum += A(x[i]);
            }
          }
        }
        if constexpr (!op::is_maximum(Kind)) total += sum;
      }
    if constexpr (op::is_maximum(Kind)) {
      work.y[at] = x[best];
      if (work.chosen != nullptr)
        work.chosen[at] = Kind == op::ReductionKind::maximum ? equal : best;
    } else {
      if constexpr (Kind == op::ReductionKind::mean) total /= A(box.count()) * A(joined);
      work.y[at] = S(total);
    }
  }
};

/// One work item: one number of the input, which gathers from the windows that contain it.
template <op::ReductionKind Kind, class P> struct reduction_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Reduction<Kind>::template Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    op::ReductionWindows const& windows = work.windows;
    int const channels = windows.input.channels, outputs = windows.output.channels;
    long const row = at / channels, n = row / windows.input.positions();
    int const p = int(row % windows.input.positions());
    int const c = windows.joins_channels() ? 0 : int(at % channels);
    op::ReductionBox const over = windows.outputs_over(p);
    A sum = 0;
    for (int d = over.first[0]; d < over.last[0]; ++d)
      for (int h = over.first[1]; h < over.last[1]; ++h)
        for (int w = over.first[2]; w < over.last[2]; ++w) {
          int const q = op::ReductionWindows::position(windows.output, d, h, w);
          long const from = (n * windows.output.positions() + q) * outputs + c;
          A const d_y = A(work.d_y[from]);
          if constexpr (Kind == op::ReductionKind::sum) sum += d_y;
          if constexpr (Kind == op::ReductionKind::mean)
            sum += d_y / (A(windows.window(q).count()) * A(windows.channels()));
          if constexpr (Kind == op::ReductionKind::maximum)
            if (is_equal(A(work.x[at]), A(work.y[from]))) sum += d_y / A(work.chosen[from]);
          if constexpr (Kind == op::ReductionKind::first_maximum)
            if (work.chosen[from] == p * channels + int(at % channels)) sum += d_y;
        }
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + sum : sum);
  }
};

template <op::ReductionKind Kind, class P> struct Kernels<op::Reduction<Kind>, P> {
  using Op = op::Reduction<Kind>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.windows.output.size(),
           reduction_forward<Kind, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    launch(exec, label, long(work.batch) * work.windows.input.size(),
           reduction_backward<Kind, P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
