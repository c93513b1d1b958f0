// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/element_places.hpp>
#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/transfer.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

template <class P> struct copy_channels {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Copy::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    long const r = item / work.channels;
    long const c = item % work.channels;
    A const x = A(work.x[r * work.x_channels + work.from + c]);
    S& y = work.y[r * work.y_channels + work.to + c];
    y = S(work.accumulate ? A(y) + x : x);
  }
};

/// The caller's order: channels innermost, so that the slot is written contiguously.
template <class P> struct transfer_load {
  using A = typename P::accumulate;
  op::Transfer::Load<P> work;
  ElementPlaces places{work.shape};

  PHYLLO_FUNCTION void operator()(long at) const {
    auto const e = places(at);
    work.slot[at] = typename P::storage(
        work.source.template read<A>(e.sample, e.channel, e.at[0], e.at[1], e.at[2]));
  }
};

template <class P> struct transfer_store {
  using A = typename P::accumulate;
  op::Transfer::Store<P> work;
  ElementPlaces places{work.shape};

  PHYLLO_FUNCTION void operator()(long at) const {
    auto const e = places(at);
    work.target.write(e.sample, e.channel, e.at[0], e.at[1], e.at[2], A(work.slot[at]));
  }
};

template <class P> struct Kernels<op::Copy, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Copy::Forward<P> const& work) {
    launch(exec, label, work.rows * work.channels, copy_channels<P>{work});
  }
};

template <class P> struct Kernels<op::Transfer, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Transfer::Load<P> const& work) {
    launch(exec, label, long(work.batch) * work.shape.size(), transfer_load<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Transfer::Store<P> const& work) {
    launch(exec, label, long(work.batch) * work.shape.size(), transfer_store<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
