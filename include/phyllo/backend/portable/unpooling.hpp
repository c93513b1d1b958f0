// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/unpooling.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one number of the image.
template <class P> struct unpooling_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Unpooling::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    Shape const& image = work.image_shape;
    int const c = int(at % image.channels);
    long const row = at / image.channels, n = row / image.positions();
    int const p = int(row % image.positions());
    int const q = op::window_over(work.window, image, work.pooled, p);
    bool const is_maximum =
        q >= 0 && op::first_maximum<A>(work.window, image, work.pooled,
                                       work.image + n * image.size(), c, q) == p;
    work.y[at] =
        is_maximum ? work.x[n * work.pooled.size() + long(q) * image.channels + c] : S(A(0));
  }
};

/// One work item: one window of one channel.
template <class P> struct unpooling_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Unpooling::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    Shape const& image = work.image_shape;
    int const c = int(at % image.channels);
    long const row = at / image.channels, n = row / work.pooled.positions();
    long const first = n * image.size();
    int const p = op::first_maximum<A>(work.window, image, work.pooled, work.image + first, c,
                                       int(row % work.pooled.positions()));
    A const d = A(work.d_y[first + long(p) * image.channels + c]);
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + d : d);
  }
};

template <class P> struct Kernels<op::Unpooling, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Unpooling::Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.image_shape.size(), unpooling_forward<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Unpooling::Backward<P> const& work) {
    launch(exec, label, long(work.batch) * work.pooled.size(), unpooling_backward<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
