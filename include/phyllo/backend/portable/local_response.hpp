// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/local_response.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one number.
template <class P> struct local_response_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::LocalResponse::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.window.channels);
    S const* const x = work.x + (at - c);
    work.y[at] = S(A(x[c]) * work.window.factor(work.window.base(x, c)));
  }
};

/// One work item: one number of the input, which gathers from the channels that it divides.
template <class P> struct local_response_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::LocalResponse::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    auto const& window = work.window;
    int const c = int(at % window.channels);
    S const* const x = work.x + (at - c);
    S const* const d_y = work.d_y + (at - c);
    A own = 0, others = 0;
    for (int i = window.first_reader(c); i < window.last_reader(c); ++i) {
      A const base = window.base(x, i), factor = window.factor(base);
      others += A(d_y[i]) * A(x[i]) * factor / base;
      if (i == c) own = factor;
    }
    A const d = A(d_y[c]) * own - A(2) * window.beta * window.share * A(x[c]) * others;
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + d : d);
  }
};

template <class P> struct Kernels<op::LocalResponse, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::LocalResponse::Forward<P> const& work) {
    launch(exec, label, work.rows * work.window.channels, local_response_forward<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::LocalResponse::Backward<P> const& work) {
    launch(exec, label, work.rows * work.window.channels, local_response_backward<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
