// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <string>

/// Lanes of the batches, and shards of reproducible steps: more ranks would have nothing to do.
inline constexpr int lanes = 16;

namespace loop {

using Space = Kokkos::DefaultExecutionSpace;
using Fastest = phyllo::Execution<Space>;
using Exact = phyllo::Execution<Space, phyllo::DefaultBackends<Space>::type,
                                phyllo::FusionLevel::tile, phyllo::Reproducible<lanes>>;

}  // namespace loop

/// train.template operator()<Policy, Execution>() for the policy that LoopOptions::policy names.
/// Each of them compiles the trainer once more.
template <class Train> auto with_policy(std::string const& name, Train const& train) {
  using namespace phyllo;
  using AllReduced = AllReduce<Mpi>;
#ifdef PHYLLO_EXAMPLE_POLICIES
  using Outer = Asynchronous<4, AllReduced>;
  if (name == "all-reduce-bf16")
    return train.template operator()<AllReduce<Wire<bf16, Mpi>>, loop::Fastest>();
  if (name == "hierarchical") return train.template operator()<Hierarchical<Mpi>, loop::Fastest>();
  if (name == "sharded") return train.template operator()<Sharded<AllReduced>, loop::Fastest>();
  if (name == "lag") return train.template operator()<Lag<1, AllReduced>, loop::Fastest>();
  if (name == "local-sgd") return train.template operator()<LocalSgd<8, Mpi>, loop::Fastest>();
  if (name == "asynchronous") return train.template operator()<Outer, loop::Fastest>();
  if (name == "groups")
    return train.template operator()<Groups<2, AllReduced, Outer>, loop::Fastest>();
  if (name == "tree-reduce") return train.template operator()<TreeReduce<Mpi>, loop::Exact>();
#endif
  if (name == "all-reduce") return train.template operator()<AllReduced, loop::Fastest>();
  throw Error("--policy " + name +
              ": this program was built without it. Configure with "
              "-DPHYLLO_EXAMPLE_POLICIES=ON.");
}
