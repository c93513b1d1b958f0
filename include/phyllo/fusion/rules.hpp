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
  tile,      // the same with sums, normalisations of rows or of inference, and images in front
};

/// What a step of a plan is.
enum class StepKind : unsigned char {
  single,
  folded_contraction,    // contraction, batch normalisation of inference, pointwise chain
  contraction_epilogue,  // contraction, pointwise chain
  normalization_epilogue,
  normalization_add,  // normalisation, sum with another value, pointwise chain
  add_epilogue,
  attention,  // scores, softmax, dropouts, sums of values
  pointwise_chain,
  segment,
};

/// One place of a pattern: a role, once or any number of times; or a part of an attention.
struct Term {
  Role role = Role::input;
  bool many = false;
  AttentionPart part = AttentionPart::none;  // none: any
};
constexpr Term one(Role r, AttentionPart part = AttentionPart::none) { return {r, false, part}; }
constexpr Term many(Role r, AttentionPart part = AttentionPart::none) { return {r, true, part}; }

struct Rule {
  char const* name;
  Term pattern[4];
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
    {"fold norm into convolution",   {one(Role::convolution), one(Role::normalization), many(Role::pointwise)}, 3, StepKind::folded_contraction,     Phase::inference},
    {"convolution epilogue",         {one(Role::convolution), many(Role::pointwise)},                           2, StepKind::contraction_epilogue,   Phase::both},
    {"normalise, add, activate",     {one(Role::normalization), one(Role::add), many(Role::pointwise)},         3, StepKind::normalization_add,      Phase::training},
    {"normalise and activate",       {one(Role::normalization), many(Role::pointwise)},                         2, StepKind::normalization_epilogue, Phase::both},
    {"normalise rows and activate",  {one(Role::row), many(Role::pointwise)},                                   2, StepKind::normalization_epilogue, Phase::both},
    {"add and activate",             {one(Role::add), many(Role::pointwise)},                                   2, StepKind::add_epilogue,           Phase::both},
    {"map and activate",             {one(Role::map), many(Role::pointwise)},                                   2, StepKind::add_epilogue,           Phase::both},
    {"pointwise chain",              {one(Role::pointwise), many(Role::pointwise)},                             2, StepKind::pointwise_chain,        Phase::both},
    {"attention", {one(Role::product, AttentionPart::scores), one(Role::row, AttentionPart::weights), many(Role::pointwise, AttentionPart::dropout), one(Role::product, AttentionPart::values)}, 4, StepKind::attention, Phase::both},
    // clang-format on
};

/// Names of segments in `explain`: of Linear layers, and with convolutions or poolings in front.
/// How far they reach is stated by the backend that runs them, SegmentLimits.
inline constexpr char const* narrow_segment_name = "narrow segment";
inline constexpr char const* image_segment_name = "small images";

}  // namespace phyllo::inline PHYLLO_ISA
