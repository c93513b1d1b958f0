// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "rounds.hpp"
#include "scenario.hpp"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

namespace perf {

/// The constants of a machine that its links do not hold.
struct Fabric {
  int ranks = 1, ranks_per_node = 1;
  double node_latency = 0;         // seconds of a message between two ranks of a node
  double node_bandwidth = 0;       // byte/s of such a message
  double rank_bandwidth = 0;       // byte/s that one rank puts on the network at most
  double reduction_bandwidth = 0;  // byte/s of a sum of two arrays
  std::string algorithm;

  explicit Fabric(Scenario const& s)
      : ranks(s.count("ranks")),
        ranks_per_node(std::min(ranks, s.count("ranks_per_node"))),
        node_latency(s.number("node_latency")),
        node_bandwidth(s.number("node_bandwidth")),
        rank_bandwidth(s.number("rank_bandwidth")),
        reduction_bandwidth(s.number("reduction_bandwidth")),
        algorithm(s.text("algorithm")) {}
  int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  int first(int node) const { return node * ranks_per_node; }
  int last(int node) const { return std::min(ranks, first(node) + ranks_per_node); }
};

/// Which ranks sum together: blocks of neighbours, or every `stride`-th rank.
struct Members {
  int block = 0;   // ranks in a block; 0: strided
  int stride = 1;  // of a strided one; with 1 all ranks

  int size(int ranks) const { return block > 0 ? std::min(block, ranks) : ranks / stride; }
  int index(int rank) const { return block > 0 ? rank % block : rank / stride; }
  int rank(int of, int index) const {
    return block > 0 ? of - of % block + index : index * stride + of % stride;
  }
};

/// A collective as one node takes part in it: what its ranks send in a round to the same node goes
/// as one flow, which shares the node's link as their flows would.
///
/// state    for 1 byte in all; messages and bytes count each rank's own
class Collective {
 public:
  enum class Kind { sum, reduce_scatter, all_gather, all_to_all };

  Collective(Fabric const& fabric, int node, Members const& members, Kind kind)
      : fabric_(fabric), node_(node) {
    for (int r = fabric.first(node); r < fabric.last(node); ++r) add_rank(r, members, kind);
  }

  /// Runs it on `bytes` between the actors of all nodes that call it on the same channel.
  void run(int channel, double bytes) const {
    namespace s4u = simgrid::s4u;
    for (NodeRound const& round : rounds_) {
      std::vector<s4u::CommPtr> messages;
      for (auto const& [peer, flow] : round.sent) {
        auto const message = mailbox(channel, node_, peer)
                                 ->put_init(&token_, std::uint64_t(flow.bytes * bytes + 0.5));
        message->set_rate(fabric_.rank_bandwidth * flow.ranks);
        message->start();
        messages.push_back(message);
      }
      static char* received;  // nothing of it is read
      for (int const peer : round.received)
        messages.push_back(mailbox(channel, peer, node_)->get_async<char>(&received));
      if (round.inside)
        s4u::this_actor::sleep_for(fabric_.node_latency +
                                   round.inside_bytes * bytes / fabric_.node_bandwidth);
      for (auto const& message : messages) message->wait();
      s4u::this_actor::sleep_for(round.reduced * bytes / fabric_.reduction_bandwidth);
    }
  }

  long messages() const { return messages_; }
  double bytes() const { return bytes_; }

 private:
  struct Flow {
    double bytes = 0;
    int ranks = 0;
  };
  struct NodeRound {
    std::map<int, Flow> sent;
    std::vector<int> received;
    bool inside = false;
    double inside_bytes = 0;
    double reduced = 0;
  };

  void add_rank(int r, Members const& members, Kind kind) {
    int const size = members.size(fabric_.ranks), index = members.index(r);
    if (index >= size) return;  // behind the last complete stride
    if (kind == Kind::all_to_all) return add_pieces(r, members, size);
    using Halves = Rounds::Halves;
    Halves const halves = kind == Kind::sum              ? Halves::both
                          : kind == Kind::reduce_scatter ? Halves::reduce_scatter
                                                         : Halves::all_gather;
    auto const own = fabric_.algorithm == "binomial" && kind == Kind::sum
                         ? Rounds::binomial(index, size, 1)
                         : Rounds::rabenseifner(index, size, 1, halves);
    if (rounds_.size() < own.size()) rounds_.resize(own.size());
    for (std::size_t t = 0; t < own.size(); ++t) {
      NodeRound& round = rounds_[t];
      round.reduced = std::max(round.reduced, own[t].reduced);
      if (own[t].to >= 0) {
        ++messages_;
        bytes_ += own[t].sent;
        int const peer = members.rank(r, own[t].to) / fabric_.ranks_per_node;
        if (peer == node_) {
          round.inside = true;
          round.inside_bytes = std::max(round.inside_bytes, own[t].sent);
        } else {
          Flow& flow = round.sent[peer];
          flow.bytes += own[t].sent;
          ++flow.ranks;
        }
      }
      if (own[t].from >= 0) {
        int const peer = members.rank(r, own[t].from) / fabric_.ranks_per_node;
        auto& from = round.received;
        if (peer != node_ && std::find(from.begin(), from.end(), peer) == from.end())
          from.push_back(peer);
      }
    }
  }

  // All messages of all ranks at once; the latency is counted once, so this is a lower bound.
  void add_pieces(int r, Members const& members, int size) {
    rounds_.resize(1);
    NodeRound& round = rounds_.front();
    round.reduced = 1;
    double const piece = 1.0 / size;
    double inside_bytes = 0;
    for (int other = 0; other < size; ++other) {
      int const to = members.rank(r, other), peer = to / fabric_.ranks_per_node;
      if (to == r) continue;
      ++messages_;
      bytes_ += piece;
      if (peer == node_) {
        round.inside = true;
        inside_bytes += piece;
        continue;
      }
      Flow& flow = round.sent[peer];
      if (flow.ranks == 0) round.received.push_back(peer);
      flow.bytes += piece;
      ++flow.ranks;
    }
    round.inside_bytes = std::max(round.inside_bytes, inside_bytes);
  }

  static simgrid::s4u::Mailbox* mailbox(int channel, int from, int to) {
    static std::map<std::array<int, 3>, simgrid::s4u::Mailbox*> known;
    auto& box = known[{channel, from, to}];
    if (box == nullptr)
      box = simgrid::s4u::Mailbox::by_name(std::to_string(channel) + ":" + std::to_string(from) +
                                           ">" + std::to_string(to));
    return box;
  }

  Fabric const& fabric_;
  int node_;
  std::vector<NodeRound> rounds_;
  long messages_ = 0;
  double bytes_ = 0;
  static inline char token_ = 0;
};

}  // namespace perf
