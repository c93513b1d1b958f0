// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../suite/networks.hpp"

#include "../../tests/networks/resnet.hpp"

namespace perf {

/// What a training step sends and when, of a network's type and of nothing else.
///
/// state    bytes[k] of bucket k in the order in which they leave, the first with the sums that
///          travel behind the gradients; ready[k]: the share of the backward pass's operations
///          after which it is complete
template <class Net, long BucketBytes = default_bucket_bytes> struct Schedule {
  using AllBuckets = Buckets<Net, BucketBytes, int(sizeof(float))>;
  using TrainerType = Trainer<Net, MeanSquaredError, Sgd, Full<float>, Local,
                              Execution<Kokkos::DefaultHostExecutionSpace>>;
  static constexpr auto const& nodes = Net::program::nodes;
  static constexpr bool whole_step = TrainerType::whole_step;
  static constexpr int count = AllBuckets::count;

  long bytes[Net::program::size + 1] = {};
  double ready[Net::program::size + 1] = {};
  long total = 0;

  constexpr Schedule() {
    long end = TrainerType::ModelType::gradient_size;
    for (int k = 0; k < count; ++k) {
      long const begin = AllBuckets::table.begin[k];
      bytes[k] = (end - begin) * long(sizeof(float));
      total += bytes[k];
      ready[k] = whole_step ? 1 : backward_flops(begin) / backward_flops(0);
      end = begin;
    }
  }

  /// Operations of one sample in the backward pass down to the node whose weights begin at `low`.
  static constexpr double backward_flops(long low) {
    double flops = 0;
    for (int i = Net::program::size - 1; i >= 0; --i) {
      Node const& n = nodes.node[i];
      if (n.role != Role::input)
        flops +=
            double(phyllo::detail::backward_flops(n, nodes.node[n.source[0]].role != Role::input));
      if (n.first_parameter() >= 0 && n.first_parameter() <= low) break;
    }
    return flops;
  }
};

}  // namespace perf
