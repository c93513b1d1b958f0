// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowering, planning and memory of networks that a seeded generator draws: plans --count N --seed S
// [--least M] [--verbose]. A failure prints the smallest network that still fails.

#include "draw.hpp"
#include "plan_check.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace phyllo;
using namespace phyllo::test;

namespace {

Coverage coverage;

// Another backend: perceptrons whose weights are in scratch memory, nothing of what is optional.
constexpr SegmentLimits perceptrons = {
    .backend = "perceptrons",
    .widest = 100,
    .fewest_layers = 3,
    .most_layers = 5,
    .most_parameters = 9000,
    .trains = true,
    .whole_steps = true,
    .scratch = {.bytes = 3000, .group = 16, .weight_bytes = 2, .bias_bytes = 4}};

// What is wrong with a network; nullptr: nothing, or it is no network.
char const* mistake_of(Description const& description, bool& is_network) {
  static DrawnNodes nodes;
  is_network = lower(description, nodes);
  if (!is_network) return nullptr;
  static constexpr struct {
    Phase phase;
    FusionLevel fusion;
    int element;
    SegmentLimits limits = UsualLimits::value;
    Recomputation recomputation = Recomputation::marked;
  } plans[] = {{Phase::inference, FusionLevel::tile, 4},
               {Phase::inference, FusionLevel::segment, 2},
               {Phase::inference, FusionLevel::epilogue, 8},
               {Phase::inference, FusionLevel::none, 4},
               {Phase::training, FusionLevel::tile, 2},
               {Phase::training, FusionLevel::none, 8},
               {Phase::training, FusionLevel::tile, 4, UsualLimits::value, Recomputation::cheap},
               {Phase::training, FusionLevel::none, 2, UsualLimits::value, Recomputation::cheap},
               {Phase::inference, FusionLevel::tile, 4, perceptrons},
               {Phase::training, FusionLevel::tile, 4, perceptrons}};
  for (auto const& plan : plans) {
    PlanCheck<most_nodes> const check(nodes, plan.phase, plan.fusion, plan.limits, plan.element,
                                      plan.recomputation, coverage);
    if (check.mistake != nullptr) return check.mistake;
  }
  return nullptr;
}

bool fails(Description const& description) {
  bool is_network = false;
  return mistake_of(description, is_network) != nullptr;
}

// Removes parts and lessens numbers while something is still wrong.
Description smallest(Description network) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = 1; i < network.size(); ++i) {
      Description without = network;
      without.erase(without.begin() + long(i));
      if (!fails(without)) continue;
      network = without;
      smaller = true;
      --i;
    }
    auto const lessen = [&](std::size_t i, int least, auto const& member) {
      int const now = member(network[i]);
      for (int const to : {least, now / 2, now - 1}) {
        if (to < least || to >= now) continue;
        Description other = network;
        member(other[i]) = to;
        if (!fails(other)) continue;
        network = other;
        smaller = true;
        return;
      }
    };
    for (std::size_t i = 0; i < network.size(); ++i) {
      PartKind const kind = network[i].kind;
      bool const tagged = kind == PartKind::recompute || kind == PartKind::save ||
                          kind == PartKind::from || kind == PartKind::add ||
                          kind == PartKind::concat || kind == PartKind::join ||
                          kind == PartKind::multiply || kind == PartKind::unpooling;
      bool const which = kind == PartKind::pointwise || kind == PartKind::pooling ||
                         kind == PartKind::row_normalization || kind == PartKind::reshape ||
                         kind == PartKind::reduction || kind == PartKind::map;
      if (!tagged) lessen(i, which ? 0 : 1, [](Part& p) -> int& { return p.number; });
      for (int d = 0; d < 3; ++d) {
        if (kind != PartKind::pooling &&
            kind != PartKind::unpooling)  // whose windows have one size
          lessen(i, 1, [d](Part& p) -> int& { return p.size[d]; });
        lessen(i, 1, [d](Part& p) -> int& { return p.stride[d]; });
        lessen(i, 0, [d](Part& p) -> int& { return p.padding[d]; });
      }
    }
  }
  return network;
}

int report(Description const& network, std::uint64_t seed, long number) {
  Description const least = smallest(network);
  bool is_network = false;
  std::printf(
      "network %ld of seed %llu: wrong is that %s\n%s\nthe smallest like it: wrong is that "
      "%s\n%s\n",
      number, static_cast<unsigned long long>(seed), mistake_of(network, is_network),
      spelling(network).c_str(), mistake_of(least, is_network), spelling(least).c_str());
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  long count = 20000, fewest = 20;
  std::uint64_t seed = 1;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    auto const is = [&](char const* name) {
      return std::strcmp(argv[i], name) == 0 && i + 1 < argc;
    };
    if (is("--count"))
      count = std::atol(argv[++i]);
    else if (is("--seed"))
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (is("--least"))
      fewest = std::atol(argv[++i]);
    else if (std::strcmp(argv[i], "--verbose") == 0)
      verbose = true;
    else {
      std::printf("usage: plans [--count N] [--seed S] [--least M] [--verbose]\n");
      return EXIT_FAILURE;
    }
  }
  long parts[kinds] = {};
  for (long n = 0; n < count; ++n) {
    Description const network = draw(seed, n);
    for (Part const& p : network) ++parts[int(p.kind)];
    if (verbose) std::printf("%s\n", spelling(network).c_str());
    bool is_network = false;
    char const* const mistake = mistake_of(network, is_network);
    if (mistake != nullptr) return report(network, seed, n);
    if (!is_network) {
      std::printf("network %ld of seed %llu is none\n%s\n", n,
                  static_cast<unsigned long long>(seed), spelling(network).c_str());
      return EXIT_FAILURE;
    }
  }
  bool rare = false;
  auto const show = [&](char const* what, long times) {
    std::printf("%12ld %s\n", times, what);
    rare = rare || times < fewest;
  };
  std::printf("%ld networks of seed %llu\n", count, static_cast<unsigned long long>(seed));
  for (int k = 0; k < kinds; ++k) show(kind_names[k], parts[k]);
  static constexpr char const* fused[] = {"single",
                                          "folded contraction",
                                          "contraction epilogue",
                                          "normalisation epilogue",
                                          "normalisation and sum",
                                          "sum epilogue",
                                          "attention",
                                          "pointwise chain",
                                          "segment"};
  for (int k = 0; k < 9; ++k) show(fused[k], coverage.fused[k]);
  static constexpr char const* layers[] = {"",
                                           "dense layers of segments",
                                           "convolutions of segments",
                                           "poolings of segments",
                                           "sums of segments",
                                           "normalisations of segments",
                                           "row normalisations of segments",
                                           "batch normalisations of segments"};
  for (int k = 1; k < 8; ++k) show(layers[k], coverage.layer[k]);
  show("whole steps", coverage.whole_steps);
  show("segments of training", coverage.training_segments);
  show("folded layers in segments", coverage.folded_in_segments);
  show("segments of images alone", coverage.trunks);
  show("segments of one layer", coverage.lone_layers);
  show("segments of the most layers", coverage.most_layers);
  show("layers of the widest rows", coverage.widest);
  show("images read as rows", coverage.images_as_rows);
  show("windows on one position in segments", coverage.one_position_windows);
  show("dense layers on images", coverage.products_on_images);
  show("values read under other extents", coverage.other_extents);
  show("segments of them", coverage.segments_of_other_extents);
  show("sums of a segment's input", coverage.sums_of_the_input);
  show("steps that a limit ended", coverage.limited);
  show("statistics of rows kept", coverage.kept_statistics);
  show("states of recurrences kept", coverage.kept_states);
  show("values read twice", coverage.read_twice);
  show("values that nothing reads", coverage.dead);
  show("outputs that are one value", coverage.shared_outputs);
  show("gradients added to", coverage.accumulated);
  show("steps that run forward again", coverage.again);
  show("those of them in no Recompute", coverage.cheap);
  show("values with two lives", coverage.two_lives);
  show("recurrences over a source computed again", coverage.scans_again);
  show("arenas with bytes used twice", coverage.reused);
  if (rare) std::printf("something occurs less than %ld times\n", fewest);
  return rare ? EXIT_FAILURE : EXIT_SUCCESS;
}
