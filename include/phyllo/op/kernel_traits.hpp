// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// How many rows of parameter gradients the workspace of a whole step has.
enum class WorkspaceRows : unsigned char {
  of_op,       // its `blocks`
  of_threads,  // one for each thread or shard, `blocks` at least
  of_kernels,  // Kernels::workspace_rows(exec)
};

/// Facts about the kernels of an op. Kernels state those that differ from the default in one
/// member, `static constexpr KernelTraits traits = {.takes_views = true, ...}`: a misspelt name
/// does not compile.
///
/// units    bytes, but for partial_count: numbers
struct KernelTraits {
  bool takes_views = false;   // segments: read and write the caller's Views without a transfer
  bool takes_pieces = false;  // whole steps: one launch for several parts of a batch
  WorkspaceRows rows = WorkspaceRows::of_op;
  long thread_bytes = 0;   // workspace for each thread
  long sample_bytes = 0;   // for each sample of a batch that is a multiple of 64
  long partial_count = 0;  // for sums over parts of a batch
};

namespace detail {

template <class K>
concept StatesFlagsAlone = requires { K::takes_views; } || requires { K::takes_pieces; } ||
                           requires { K::thread_bytes; } || requires { K::sample_bytes; } ||
                           requires { K::partial_count; } || requires { K::for_processors; };

template <class K> constexpr KernelTraits traits_of() {
  static_assert(!StatesFlagsAlone<K>,
                "Kernels: takes_views, takes_pieces, thread_bytes, sample_bytes and partial_count "
                "are members of KernelTraits. State `static constexpr KernelTraits traits = "
                "{.takes_views = true}`; for_processors is SegmentLimits::fills_devices.");
  if constexpr (requires { K::traits; })
    return K::traits;
  else
    return {};
}

}  // namespace detail

/// The facts that kernels state, or the defaults.
template <class K> inline constexpr KernelTraits kernel_traits = detail::traits_of<K>();

/// Facts about a backend, stated as `static constexpr BackendTraits traits`.
struct BackendTraits {
  bool reproducible = true;  // bits do not depend on the number of threads
};

namespace detail {

template <class B> constexpr BackendTraits backend_traits_of() {
  constexpr bool states_flag_alone = requires { B::reproducible; };
  static_assert(!states_flag_alone,
                "Backends: reproducible is a member of BackendTraits. State `static constexpr "
                "BackendTraits traits = {.reproducible = false}`.");
  if constexpr (requires { B::traits; })
    return B::traits;
  else
    return {};
}

}  // namespace detail

template <class B> inline constexpr BackendTraits backend_traits = detail::backend_traits_of<B>();

}  // namespace phyllo::inline PHYLLO_ISA
