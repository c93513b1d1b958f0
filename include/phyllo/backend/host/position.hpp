// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/op/position.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// One work item: some channels of one position in all samples, whose sines are computed once.
template <class Work> struct position_forward {
  static constexpr int width = 64;
  Work work;
  int runs;  // of `width` channels

  void operator()(int item) const {
    int const t = item / runs, first = item % runs * width;
    int const count = work.channels - first < width ? work.channels - first : width;
    decltype(work.numbers(0, 0)) numbers[width];
    for (int c = 0; c < count; ++c) numbers[c] = work.numbers(t, first + c);
    for (long n = 0; n < work.batch; ++n) {
      long const at = (n * work.positions + t) * work.channels + first;
      for (int c = 0; c < count; ++c) work.write(at + c, first + c, numbers[c]);
    }
  }
};

/// One work item: some numbers of the table.
template <class Work, class A> struct position_backward_parameters {
  static constexpr int width = 256;
  Work work;

  void operator()(int item) const {
    int const first = item * width;
    int const count = work.size - first < width ? work.size - first : width;
    for (int i = 0; i < count; ++i) work.d_table[first + i] = A(0);
    for (long n = 0; n < work.batch; ++n)
      for (int i = 0; i < count; ++i)
        work.d_table[first + i] += A(work.d_y[n * work.size + first + i]);
  }
};

template <op::PositionKind Kind, class P> struct Kernels<op::Position<Kind>, P> {
  using Forward = typename op::Position<Kind>::template Forward<P>;
  using Backward = typename op::Position<Kind>::template BackwardParameters<P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label, Forward const& work) {
    using Functor = position_forward<Forward>;
    int const runs = (work.channels + Functor::width - 1) / Functor::width;
    launch(exec, label, work.positions * runs, Functor{work, runs});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, Backward const& work) {
    using Functor = position_backward_parameters<Backward, typename P::accumulate>;
    launch(exec, label, (work.size + Functor::width - 1) / Functor::width, Functor{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
