// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/planned.hpp>
#include <phyllo/op/add.hpp>
#include <phyllo/op/contraction.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/normalization.hpp>
#include <phyllo/op/pointwise.hpp>
#include <phyllo/op/pooling.hpp>
#include <phyllo/op/softmax.hpp>
#include <phyllo/op/transpose.hpp>
#include <phyllo/op/upsample.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class T> struct OpType {
  using type = T;
};

template <class Planned, int S> constexpr auto step_op() {
  constexpr Role role = Planned::head(S).role;
  if constexpr (Planned::step(S).kind == StepKind::segment)
    return OpType<StepSegment<Planned, S>>{};
  else if constexpr (role == Role::contraction)
    return OpType<op::Contraction<StepChain<Planned, S>>>{};
  else if constexpr (role == Role::normalization)
    return OpType<op::Normalization<StepChain<Planned, S>>>{};
  else if constexpr (role == Role::pointwise)
    return OpType<op::Pointwise<StepChain<Planned, S>>>{};
  else if constexpr (role == Role::add)
    return OpType<op::Add<StepChain<Planned, S>>>{};
  else if constexpr (role == Role::pooling)
    return OpType<
        op::Pooling<At<typename Planned::leaves, Planned::plan.head(Planned::step(S))>::kind>>{};
  else if constexpr (role == Role::resample)
    return OpType<op::Upsample>{};
  else if constexpr (role == Role::softmax)
    return OpType<op::Softmax>{};
  else if constexpr (role == Role::reshape)
    return OpType<op::Transpose>{};
  else
    return OpType<op::Copy>{};
}

}  // namespace detail

/// The op that step S of a plan launches.
template <class Planned, int S>
using StepOp = typename decltype(detail::step_op<Planned, S>())::type;

}  // namespace phyllo::inline PHYLLO_ISA
