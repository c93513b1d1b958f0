// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/dot_product.hpp>
#include <phyllo/op/row.hpp>
#include <phyllo/op/softmax.hpp>
#include <phyllo/op/softmax_row.hpp>

#include <type_traits>

namespace phyllo::portable {

/// One work item: one row.
template <class P> struct softmax_forward {
  using A = typename P::accumulate;
  op::Softmax::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long r) const {
    int const channels = work.channels;
    op::OutputRow<typename P::storage, A> const x{work.x + r * channels};
    auto* const y = work.y + r * channels;
    if constexpr (std::is_same_v<typename P::storage, A>) {
      KOKKOS_IF_ON_HOST((if (channels >= op::SoftmaxPass<A>::lanes) {
        op::softmax_into<A>(channels, x, A(1), y);
        return;
      }))
    }
    op::SoftmaxSum<A> const s = op::softmax_sum<A>(channels, x);
    A const share = A(1) / s.sum;
    op::GradientRow<typename P::storage, A> const to{y};
    PHYLLO_SIMD(16)
    for (int c = 0; c < channels; ++c) to(c, decay(x(c) - s.largest) * share);
  }
};

template <class P> struct softmax_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Softmax::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long r) const {
    auto const* const y = work.y + r * work.channels;
    auto const* const d_y = work.d_y + r * work.channels;
    auto* const d_x = work.d_x + r * work.channels;
    int const channels = work.channels;
    A const dot = op::dot_product<A>(channels, op::OutputRow<S, A>{y}, op::OutputRow<S, A>{d_y});
    op::GradientRow<S, A> const to{d_x, A(1), work.accumulate};
    PHYLLO_SIMD(16)
    for (int c = 0; c < channels; ++c) to(c, A(y[c]) * (A(d_y[c]) - dot));
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
