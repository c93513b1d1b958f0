// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/policy/communication.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// A communication policy for Reproducible: it sends the sums of shards and adds nothing, so that
/// no bit depends on the number of ranks.
///
///   all_gather         one count of each rank, in host memory, blocking
///   begin_all_gather   rank r sends data[bounds[r] .. bounds[r + 1]); after finish every rank has
///   all of them; bounds (ranks + 1) must stay unchanged until then
template <class C>
concept ShardCommunication =
    Communication<C> && (std::is_same_v<C, Local> ||
                         requires(C& c, Kokkos::DefaultExecutionSpace const& exec, float* single,
                                  double* twofold, long count, long* counts, long const* bounds) {
                           c.all_gather(count, counts);
                           c.begin_all_gather(exec, single, bounds);
                           c.begin_all_gather(exec, twofold, bounds);
                         });

}  // namespace phyllo::inline PHYLLO_ISA
