// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The largest scale of fusion. Tests compare the scales; users keep the default.
enum class FusionLevel : int {
  none,      // one kernel for each layer
  epilogue,  // a contraction, normalisation or sum with the pointwise layers behind it
  segment,   // runs of narrow layers as one kernel, and whole training steps where they fit
  tile,      // the same with sums, normalisations of inference, and small images in front
};

/// What a step of a plan is.
enum class StepKind : unsigned char {
  single,
  folded_contraction,    // contraction, batch normalisation of inference, pointwise chain
  contraction_epilogue,  // contraction, pointwise chain
  normalization_epilogue,
  normalization_add,  // normalisation, sum with another value, pointwise chain
  add_epilogue,
  pointwise_chain,
  segment,
};

/// One place of a pattern: a role, once or any number of times.
struct Term {
  Role role = Role::input;
  bool many = false;
};
constexpr Term one(Role r) { return {r, false}; }
constexpr Term many(Role r) { return {r, true}; }

struct Rule {
  char const* name;
  Term pattern[3];
  int length;
  StepKind becomes;
  Phase when;
};

/// The rewrite policy: the first rule that matches wins. By role, not by name: a new activation
/// fuses without an edit here. A value that has another reader is never fused away.
inline constexpr Rule rules[] = {
    // clang-format off
    //name                           pattern                                                                        becomes                        valid in
    {"fold norm into contraction",   {one(Role::contraction), one(Role::normalization), many(Role::pointwise)}, 3, StepKind::folded_contraction,     Phase::inference},
    {"contraction epilogue",         {one(Role::contraction), many(Role::pointwise)},                           2, StepKind::contraction_epilogue,   Phase::both},
    {"normalise, add, activate",     {one(Role::normalization), one(Role::add), many(Role::pointwise)},         3, StepKind::normalization_add,      Phase::training},
    {"normalise and activate",       {one(Role::normalization), many(Role::pointwise)},                         2, StepKind::normalization_epilogue, Phase::both},
    {"add and activate",             {one(Role::add), many(Role::pointwise)},                                   2, StepKind::add_epilogue,           Phase::both},
    {"pointwise chain",              {one(Role::pointwise), many(Role::pointwise)},                             2, StepKind::pointwise_chain,        Phase::both},
    // clang-format on
};

/// When a run of dense steps becomes one kernel: the widest value still fits the registers or
/// scratch of a tile, and all weights a core's second-level cache.
struct SegmentRule {
  char const* name = "narrow segment";
  int widest = 128;       // channels
  int fewest_layers = 2;  // one layer alone gains nothing
  int most_layers = 16;
  int most_parameters = 160 * 1024;  // elements; 640 KiB in float
};
inline constexpr SegmentRule segment_rule{};

/// When convolutions and poolings join the dense steps behind them: all values of the samples that
/// fill a vector and their gradients fit a core's second-level cache, and so do the weights.
struct ImageSegmentRule {
  char const* name = "small images";
  int most_values = 12 * 1024;       // numbers of one sample, all layers together
  int widest = 1024;                 // inputs of the first Linear layer
  int most_parameters = 128 * 1024;  // elements; 512 KiB in float
};
inline constexpr ImageSegmentRule image_segment_rule{};

}  // namespace phyllo::inline PHYLLO_ISA
