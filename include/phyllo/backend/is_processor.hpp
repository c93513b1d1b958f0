// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// Whether the threads of a space are those of a processor, few and each with caches of its own.
template <class Space>
inline constexpr bool is_processor =
    std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

}  // namespace phyllo::inline PHYLLO_ISA
