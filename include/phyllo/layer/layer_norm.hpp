// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Normalisation over the channels of each position: y = (x - mean) / sqrt(variance + epsilon)
/// weight + bias.
///
/// shape    (N, C, S...) -> (N, C, S...)
/// options  Affine<true> · Bias<true> · Epsilon<1e-5>
/// state    weight (C), bias (C); no bias with Bias<false>, none with Affine<false>
/// units    dimensionless
/// errors   compile: an unknown option
/// numerics mean first, then centred squares; sums in Precision::accumulate
/// cost     forward: one read, one write; backward: two reads, one write
/// source   Ba, Kiros and Hinton, "Layer Normalization", arXiv:1607.06450
template <class... Options> struct LayerNorm {
  static constexpr char const* name = "layer_norm";
  static constexpr Role role = Role::row;
  static constexpr bool centered = true;
  static constexpr bool affine = detail::find_affine<Options...>();
  static constexpr bool has_bias = detail::find_bias<Options...>();
  static constexpr double epsilon = detail::find_epsilon<Options...>();
  static constexpr bool valid_options = detail::are_layer_norm_options<Options...>;

  static constexpr bool accepts(Shape) { return valid_options; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "LayerNorm: the options are Affine<...>, Bias<...> and Epsilon<...>, each once, "
                  "and Epsilon is positive.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
