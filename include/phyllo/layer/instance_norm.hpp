// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Normalisation of each channel of each sample over its positions: y = (x - mean) / sqrt(variance
/// + epsilon), with Affine<true> times weight plus bias.
///
/// shape    (N, C, S...) -> (N, C, S...), with spatial extents
/// options  Affine<false> · Epsilon<1e-5>
/// state    none; weight (C), bias (C) with Affine<true>. No running statistics: inference uses
///          those of each sample, as torch does without track_running_stats
/// units    dimensionless
/// errors   compile: an input without spatial extents; an unknown option
/// numerics mean first, then centred squares, the biased variance; sums in Precision::accumulate.
///          On one position the result is zero, which torch refuses in training
/// cost     as GroupNorm
/// source   Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", arXiv:1607.08022
template <class... Options> struct InstanceNorm {
  static constexpr char const* name = "instance_norm";
  static constexpr Role role = Role::row;
  static constexpr bool affine = detail::find_affine<Options...>(false);
  static constexpr double epsilon = detail::find_epsilon<Options...>();
  static constexpr bool valid_options = detail::are_row_options<Options...>;

  static constexpr int groups_of(Shape s) { return s.channels; }
  static constexpr bool accepts(Shape s) { return valid_options && s.rank > 0; }
  static constexpr Shape expected(Shape s) { return Shape{s.channels, 1}; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<valid_options, Where>,
                  "InstanceNorm: the options are Affine<...> and Epsilon<...>, each once, and "
                  "Epsilon is positive.");
    static_assert(detail::met<!valid_options, Where>,
                  "InstanceNorm: expected spatial extents to normalise over, got channels only. "
                  "Use LayerNorm, or put it before Flatten.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
