// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The policy, for kernels of a step that may be recorded: their functors are arguments of the
/// launch. Kokkos copies larger ones (a functor with its policy has 512 bytes or more) through a
/// device's constant memory otherwise, and first waits until that is free, which a recorded step
/// must not.
template <class Policy> auto by_argument(Policy const& policy) {
  if constexpr (is_processor<typename Policy::execution_space>)
    return policy;
  else
    return Kokkos::Experimental::require(policy,
                                         Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

}  // namespace phyllo::inline PHYLLO_ISA
