// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A training step on many ranks, simulated message by message (SimGrid, S4U): reads a scenario,
// writes the seconds of a step. An actor is a node; policies and machines are docs/61_scaling.md's.

#include "collective.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <numbers>
#include <optional>

namespace {

namespace s4u = simgrid::s4u;
using perf::Collective;
using perf::Fabric;
using perf::Members;
using perf::Scenario;
using Kind = Collective::Kind;

/// What is simulated; the same for all nodes.
struct Step {
  Fabric fabric;
  std::string policy;
  double forward, backward, update;  // seconds of one rank
  double jitter;                     // standard deviation of a rank's step, relative
  bool overlap;                      // whether messages move while a rank computes
  int every;                         // steps between exchanges of weights: LocalSgd, Groups
  int group;                         // ranks of a group: Groups
  int steps;                         // simulated and counted; one period before is not counted
  double weights;                    // bytes of an exchange of weights
  int weight_sums;                   // equal ones, one after the other, that they travel in
  std::vector<double> bytes, ready;  // of what leaves in a step: sums, or buckets
  std::vector<double> share_sums;    // of a bucket between nodes: Hierarchical

  explicit Step(Scenario const& s)
      : fabric(s),
        policy(s.text("policy")),
        forward(s.number("forward")),
        backward(s.number("backward")),
        update(s.number("update")),
        jitter(s.number("jitter")),
        overlap(s.count("overlap") != 0),
        every(s.count("every")),
        group(s.count("group")),
        steps(s.count("steps")),
        weights(s.number("weights")),
        weight_sums(s.count("weight_sums")),
        bytes(s.numbers("bytes")),
        ready(s.numbers("ready")),
        share_sums(s.numbers("share_sums")) {}
};

double begun = 0, ended = 0;  // of the counted steps
int finished = 0;             // nodes that have trained to the end
long messages = 0;            // of all ranks, in a counted step that exchanges everything
double bytes_sent = 0;

double uniform(std::uint64_t x) {  // SplitMix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return (double((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

/// How much longer than the mean the slowest rank of a node takes in a step.
double slowness(Step const& s, int node, int step) {
  double slowest = 0;
  for (int r = s.fabric.first(node); r < s.fabric.last(node); ++r) {
    std::uint64_t const key = (std::uint64_t(step) << 32 | std::uint64_t(r)) * 2;
    double const normal =
        std::sqrt(-2 * std::log(uniform(key))) * std::cos(2 * std::numbers::pi * uniform(key + 1));
    slowest = std::max(slowest, std::max(0.0, 1 + s.jitter * normal));
  }
  return slowest;
}

/// The buckets of a node pass through stages, each an actor of its own, so that one bucket is
/// summed between nodes while the next one is in its node.
class Pipeline {
 public:
  using Work = std::function<void(std::size_t)>;  // of the number of a bucket

  Pipeline(Step const& s, std::vector<Work> stages) {
    for (std::size_t k = 0; k <= stages.size(); ++k) gates_.push_back(s4u::Semaphore::create(0));
    for (std::size_t k = 0; k < stages.size(); ++k)
      simgrid::s4u::this_actor::get_host()
          ->add_actor("stage",
                      [&s, work = stages[k], in = gates_[k], out = gates_[k + 1]] {
                        for (std::size_t b = 0;; b = (b + 1) % s.bytes.size()) {
                          in->acquire();
                          work(b);
                          out->release();
                        }
                      })
          ->daemonize();
  }
  void begin() { gates_.front()->release(); }
  void finish(std::size_t buckets) {
    for (std::size_t b = 0; b < buckets; ++b) gates_.back()->acquire();
  }

 private:
  std::vector<s4u::SemaphorePtr> gates_;
};

/// A node's ranks training.
class Node {
 public:
  Node(Step const& s, int number)
      : s_(s),
        number_(number),
        all_(s.fabric, number, Members{}, Kind::sum),
        scatter_(s.fabric, number, Members{}, Kind::reduce_scatter),
        gather_(s.fabric, number, Members{}, Kind::all_gather),
        group_(s.fabric, number, Members{std::max(1, std::min(s.group, s.fabric.ranks))},
               Kind::sum),
        between_groups_(s.fabric, number,
                        Members{0, std::max(1, std::min(s.group, s.fabric.ranks))}, Kind::sum),
        between_nodes_(s.fabric, number, Members{0, s.fabric.ranks_per_node}, Kind::sum) {
    // Not for all: its memory grows with the square of the ranks.
    if (on_the_wire()) pieces_.emplace(s.fabric, number, Members{}, Kind::all_to_all);
  }

  void run() {
    bool const lag = s_.policy == "Lag", sharded = s_.policy == "Sharded", wire = on_the_wire(),
               local = s_.policy == "LocalSgd" || s_.policy == "EpochAverage",
               background = in_groups() || is_asynchronous();
    bool const sums = !local && !is_asynchronous() && s_.fabric.ranks > 1;
    int const counted = s_.steps * s_.every, all = counted + s_.every;
    Pipeline buckets(s_, stages());
    // In the background what was begun after one period arrives after the next.
    Pipeline exchange(s_, {[this](std::size_t) { exchange_weights(); }});
    bool under_way = false, exchanging = false;
    for (int step = 0; step < all; ++step) {
      if (step == s_.every) begun = std::max(begun, s4u::Engine::get_clock());
      compute(step, sums ? &buckets : nullptr);
      if (sums) {
        if (!s_.overlap)
          for (std::size_t b = 0; b < s_.bytes.size(); ++b) buckets.begin();
        if (!lag || under_way) buckets.finish(s_.bytes.size());
        under_way = true;
      }
      s4u::this_actor::sleep_for(sharded ? s_.update / s_.fabric.ranks : s_.update);
      if (sharded || wire)
        for (double const b : s_.bytes) gather_.run(2, b);
      if ((step + 1) % s_.every != 0 || s_.fabric.ranks == 1) continue;
      if (local) sum_weights(all_, 2, s_.weights);
      if (!background) continue;
      if (exchanging) exchange.finish(1);
      exchange.begin();
      exchanging = true;
      if (!s_.overlap) exchange.finish(1), exchanging = false;
    }
    ended = std::max(ended, s4u::Engine::get_clock());
    ++finished;
    if (lag && under_way) buckets.finish(s_.bytes.size());
    if (exchanging) exchange.finish(1);
    count();
  }

 private:
  bool in_groups() const { return s_.policy.starts_with("Groups"); }
  bool is_asynchronous() const { return s_.policy == "Asynchronous"; }
  bool on_the_wire() const { return s_.policy == "Wire"; }
  // Whether a node's ranks send a share each between groups, not all weights.
  bool by_nodes() const { return s_.policy == "Groups, Hierarchical"; }

  void sum_weights(Collective const& ranks, int channel, double bytes) const {
    for (int k = 0; k < s_.weight_sums; ++k) ranks.run(channel, bytes / s_.weight_sums);
  }
  void exchange_weights() const {
    if (is_asynchronous()) return sum_weights(all_, 1, s_.weights);
    if (!by_nodes()) return sum_weights(between_groups_, 1, s_.weights);
    inside(s_.weights, true);
    sum_weights(between_groups_, 1, s_.weights / s_.fabric.ranks_per_node);
    inside(s_.weights, false);
  }
  void sum_share(std::size_t bucket) const {
    double const sums = s_.share_sums.at(bucket);
    for (int k = 0; k < int(sums); ++k)
      between_nodes_.run(0, s_.bytes[bucket] / s_.fabric.ranks_per_node / sums);
  }

  void compute(int step, Pipeline* buckets) const {
    double const factor = slowness(s_, number_, step);
    s4u::this_actor::sleep_for(s_.forward * factor);
    double done = 0;
    for (double const ready : s_.ready) {
      s4u::this_actor::sleep_for((ready - done) * s_.backward * factor);
      done = ready;
      if (buckets != nullptr && s_.overlap) buckets->begin();
    }
  }

  // In its node: every rank sends each other one its part, directly.
  void inside(double bytes, bool reduces) const {
    int const g = s_.fabric.ranks_per_node;
    if (g == 1) return;
    double const moved = bytes * (g - 1) / g;
    s4u::this_actor::sleep_for((g - 1) * s_.fabric.node_latency + moved / s_.fabric.node_bandwidth +
                               (reduces ? moved / s_.fabric.reduction_bandwidth : 0));
  }

  std::vector<Pipeline::Work> stages() const {
    if (s_.policy == "Hierarchical")
      return {[this](std::size_t b) { inside(s_.bytes[b], true); },
              [this](std::size_t b) { sum_share(b); },
              [this](std::size_t b) { inside(s_.bytes[b], false); }};
    if (s_.policy == "Sharded") return {[this](std::size_t b) { scatter_.run(0, s_.bytes[b]); }};
    if (on_the_wire()) return {[this](std::size_t b) { pieces_->run(0, s_.bytes[b]); }};
    if (in_groups()) return {[this](std::size_t b) { group_.run(0, s_.bytes[b]); }};
    return {[this](std::size_t b) { all_.run(0, s_.bytes[b]); }};
  }

  void count(Collective const& c, double bytes, double buckets) const {
    messages += long(double(c.messages()) * buckets);
    bytes_sent += c.bytes() * bytes;
  }
  // Per step on average; the exchanges of weights are spread over their period.
  void count() const {
    if (s_.fabric.ranks == 1) return;
    double total = 0;
    for (double const b : s_.bytes) total += b;
    double const n = double(s_.bytes.size()), exchanges = double(s_.weight_sums) / s_.every;
    if (s_.policy == "Hierarchical") {
      int const g = s_.fabric.ranks_per_node;
      double share_sums = 0;
      for (double const sums : s_.share_sums) share_sums += sums;
      count(between_nodes_, total / g, share_sums);
      messages += long(2 * n * g * (g - 1));
      bytes_sent += 2 * total * (g - 1);
    } else if (s_.policy == "Sharded" || on_the_wire()) {
      count(on_the_wire() ? *pieces_ : scatter_, total, n);
      count(gather_, total, n);
    } else if (in_groups()) {
      int const g = by_nodes() ? s_.fabric.ranks_per_node : 1;
      count(group_, total, n);
      count(between_groups_, s_.weights / g / s_.every, exchanges);
      messages += long(2.0 / s_.every * g * (g - 1));
      bytes_sent += 2 * s_.weights / s_.every * (g - 1);
    } else if (s_.policy == "LocalSgd" || s_.policy == "EpochAverage" || is_asynchronous()) {
      count(all_, s_.weights / s_.every, exchanges);
    } else {
      count(all_, total, n);
    }
  }

  Step const& s_;
  int number_;
  Collective all_, scatter_, gather_, group_, between_groups_, between_nodes_;
  std::optional<Collective> pieces_;
};

/// Nodes on a tree of two levels: a link for each node and direction, and one for each group of
/// nodes to all others, which is narrower than the sum of its nodes' by `taper`.
void build_machine(s4u::Engine& engine, Scenario const& s, int nodes) {
  double const bandwidth = s.number("bandwidth"), latency = s.number("latency"),
               taper = s.number("taper");
  int const nodes_of_group = s.count("nodes_per_group");
  auto* const world = engine.get_netzone_root()->add_netzone_star("world");
  s4u::SplitDuplexLink const* trunk = nullptr;
  std::vector<s4u::LinkInRoute> path;
  // Star routes go up one's own links and down the other's; within a group no trunk is narrow, so
  // that a machine without taper needs none.
  bool const tapered = taper > 1 && nodes > nodes_of_group;
  s4u::NetZone* zone = world;
  for (int n = 0; n < nodes; ++n) {
    if (tapered && n % nodes_of_group == 0) {
      std::string const name = "group" + std::to_string(n / nodes_of_group);
      zone = world->add_netzone_star(name);
      trunk = world->add_split_duplex_link(name + "-trunk", bandwidth * nodes_of_group / taper);
      zone->set_gateway(zone->add_router(name + "-router"));
      world->add_route(zone, nullptr, {{trunk, s4u::LinkInRoute::Direction::UP}}, true);
    }
    std::string const name = "node" + std::to_string(n);
    auto* const host = zone->add_host(name, 1e9);
    auto* const link = zone->add_split_duplex_link(name + "-link", bandwidth);
    link->set_latency(latency / 2);
    zone->add_route(host, nullptr, {{link, s4u::LinkInRoute::Direction::UP}}, true);
    if (tapered && (n % nodes_of_group == nodes_of_group - 1 || n == nodes - 1)) zone->seal();
  }
  world->seal();
}

}  // namespace

int main(int argc, char* argv[]) {
  s4u::Engine engine(&argc, argv);
  // Times are latency plus bytes over bandwidth and nothing else: no TCP, both directions at once.
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/TCP-gamma:0");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("precision/timing:1e-12");
  s4u::Engine::set_config("contexts/stack-size:128");
  s4u::Engine::set_config("contexts/guard-size:0");
  try {
    Scenario const scenario(std::cin);
    Step const step(scenario);
    build_machine(engine, scenario, step.fabric.nodes());
    for (int n = 0; n < step.fabric.nodes(); ++n)
      engine.host_by_name("node" + std::to_string(n))->add_actor("node", [&step, n] {
        auto const node = std::make_shared<Node>(step, n);
        node->run();
      });
    engine.run();
    if (finished != step.fabric.nodes())
      throw std::runtime_error("ranks wait for each other: " + std::to_string(step.fabric.ranks) +
                               " is no multiple of the ranks of a node or group");
    double const steps = double(step.steps) * step.every;
    std::printf("{\"seconds\": %.9g, \"messages\": %ld, \"bytes\": %.0f}\n",
                (ended - begun) / steps, messages, bytes_sent);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "perf_scaling_model: %s.\n", e.what());
    return 1;
  }
}
