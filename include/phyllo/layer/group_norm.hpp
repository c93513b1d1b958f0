// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Normalisation of each sample over groups of neighbouring channels and all positions: y = (x -
/// mean) / sqrt(variance + epsilon) weight + bias.
///
/// shape    (N, C, S...) -> (N, C, S...); Groups divides C
/// options  Affine<true> · Epsilon<1e-5>
/// state    weight (C), bias (C); none with Affine<false>
/// units    dimensionless
/// errors   compile: groups that do not divide the channels; an unknown option
/// numerics mean first, then centred squares, the biased variance; sums in Precision::accumulate
/// cost     forward: two reads, one write; backward: four reads, one write; half of the reads from
///          cache where a sample fits
/// source   Wu and He, "Group Normalization", ECCV 2018
template <int Groups, class... Options> struct GroupNorm {
  static constexpr char const* name = "group_norm";
  static constexpr Role role = Role::row;
  static constexpr bool affine = detail::find_affine<Options...>();
  static constexpr double epsilon = detail::find_epsilon<Options...>();
  static constexpr bool valid_options = Groups > 0 && detail::are_row_options<Options...>;

  static constexpr int groups_of(Shape) { return Groups; }
  static constexpr bool accepts(Shape s) { return valid_options && s.channels % Groups == 0; }
  static constexpr Shape expected(Shape s) {
    return s.with_channels((s.channels + Groups - 1) / Groups * Groups);
  }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<valid_options, Where>,
        "GroupNorm: the number of groups is positive, and the options are Affine<...> and "
        "Epsilon<...>, each once, with a positive Epsilon.");
    static_assert(detail::met<!valid_options, Where>,
                  "GroupNorm: the number of groups must divide the channels. Change one of them.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
