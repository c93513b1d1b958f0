// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/shares.hpp>
#include <phyllo/comm/transport/transport.hpp>
#include <phyllo/core/error.hpp>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Settings of a Hierarchical, the same on every rank.
///
/// options  ranks_per_node: n neighbouring ranks form a node, such as those of one socket or one
///          switch, and the last node may have fewer; 0: the ranks that share memory form a node
/// errors   below 0 -> Error, at construction
struct HierarchicalOptions {
  int ranks_per_node = 0;  // neighbours that make a node; 0: the ranks that share memory
};

/// Sums gradients in three stages. In a node each rank gets the sum of one share; equal shares are
/// summed across nodes; in the node all shares are gathered. The slow network between nodes carries
/// the gradients once a node instead of once a rank.
///
/// options  Intra, Inter = Transports inside and between nodes · BucketBytes as in AllReduce
/// state    four communicators
/// threads  as the transports
/// errors   those of the transports; ranks_per_node below 0 -> Error
/// numerics the sum of a node, then that of the nodes: other roundings than AllReduce's. Nodes of
///          different sizes use as many shares as the smallest has ranks
/// cost     per bucket three transfers; three buckets are under way at a time, each in another
///          stage
/// source   Kurth et al., Exascale Deep Learning for Climate Analytics, arXiv:1810.01993, §V-A3
template <Transport Intra, Transport Inter = Intra, long BucketBytes = default_bucket_bytes>
class Hierarchical {
  static_assert(moves_shares<Intra>,
                "Hierarchical<Intra, Inter>: this Intra cannot send a share to each rank of a "
                "node. Use Mpi or GpuAwareMpi.");

 public:
  using transport_type = Intra;
  static constexpr std::string_view title = "Hierarchical";
  static constexpr char const* name = policy_name<Hierarchical, Intra, Inter>.text;
  static constexpr long bucket_bytes = BucketBytes;
  static constexpr bool rounds_on_the_wire = phyllo::rounds_on_the_wire<Inter>;

  /// Constructed from the arguments of both transports, such as the caller's MPI_Comm.
  template <class From>
    requires(!std::same_as<std::remove_cvref_t<From>, Hierarchical> &&
             std::constructible_from<Intra, From const&> &&
             std::constructible_from<Inter, From const&>)
  Hierarchical(From const& from, HierarchicalOptions const& options = {})
      : all_(from),
        node_(node_of(all_, options)),
        scatter_(all_.split(node_)),
        gather_(all_.split(node_)),
        shares_(smallest_node()),
        across_(Inter(from).split(std::min(scatter_.rank(), shares_))) {}

  int rank() const { return all_.rank(); }
  int size() const { return all_.size(); }
  int shares() const { return shares_; }

  template <class Space> void reserve(Space const& exec, long bytes) {
    long const buckets = BucketBytes == 0 ? 1 : bytes / BucketBytes + 1;
    scatter_.reserve(exec, 2 * bytes, 2 * buckets);
    across_.reserve(exec, bytes, buckets);
    gather_.reserve(exec, bytes, buckets);
  }
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    all_.sum(exec, data, count);
  }
  template <class Space, Summable Number> void begin(Space const& exec, Number* data, long count) {
    if constexpr (std::same_as<Number, float>)
      enter(exec, single_, data, count);
    else
      enter(exec, twofold_, data, count);
  }
  template <class Space, Summable Number>
  void begin_counts(Space const& exec, Number* data, long count)
    requires rounds_on_the_wire
  {
    all_.begin(exec, data, count);
  }
  template <class Space> void finish(Space const& exec) {
    drain(exec, single_);
    drain(exec, twofold_);
    all_.finish(exec);
  }
  void progress() {
    scatter_.progress();
    across_.progress();
    gather_.progress();
  }
  long exclusive_sum(long count) { return all_.exclusive_sum(count); }

 private:
  template <class Number> struct Bucket {
    Number* data = nullptr;
    long count = 0;
  };
  // Of the buckets begun: how many have entered the second and the third movement.
  template <class Number> struct Pipeline {
    std::vector<Bucket<Number>> buckets;
    std::size_t across = 0, gathered = 0;
  };

  // Every rank makes these calls in the same order, whenever its messages arrive.
  template <class Space, class Number>
  void enter(Space const& exec, Pipeline<Number>& pipeline, Number* data, long count) {
    advance(exec, pipeline);
    pipeline.buckets.push_back({data, count});
    scatter_.begin_reduce_scatter(exec, data, Shares(count, shares_));
  }
  // Each bucket but the last begun goes one movement further.
  template <class Space, class Number> void advance(Space const& exec, Pipeline<Number>& p) {
    if (p.gathered < p.across) {
      across_.finish(exec);
      for (; p.gathered < p.across; ++p.gathered) {
        Bucket<Number> const& b = p.buckets[p.gathered];
        gather_.begin_all_gather(exec, b.data, Shares(b.count, shares_));
      }
    }
    if (p.across < p.buckets.size()) {
      scatter_.finish(exec);
      for (; p.across < p.buckets.size(); ++p.across) {
        Bucket<Number> const& b = p.buckets[p.across];
        Shares const shares(b.count, shares_);
        int const own = scatter_.rank();
        if (shares.size(own) > 0) across_.begin(exec, b.data + shares.first(own), shares.size(own));
      }
    }
  }
  template <class Space, class Number> void drain(Space const& exec, Pipeline<Number>& p) {
    while (p.gathered < p.buckets.size()) advance(exec, p);
    if (!p.buckets.empty()) gather_.finish(exec);
    p.buckets.clear();
    p.across = p.gathered = 0;
  }

  static int node_of(Intra& all, HierarchicalOptions const& options) {
    if (options.ranks_per_node < 0)
      throw Error("Hierarchical: expected ranks_per_node to be 0 or more, got " +
                  std::to_string(options.ranks_per_node) +
                  ". 0 uses the nodes that the transport finds.");
    return options.ranks_per_node == 0 ? all.first_of_node() : all.rank() / options.ranks_per_node;
  }
  // As many ranks as all nodes have: the rank behind them on the others.
  int smallest_node() { return int(all_.least(scatter_.size())); }

  Intra all_;
  int node_;
  Intra scatter_, gather_;
  int shares_;
  Inter across_;
  Pipeline<float> single_;
  Pipeline<double> twofold_;
};

}  // namespace phyllo::inline PHYLLO_ISA
