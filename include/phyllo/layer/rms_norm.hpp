// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Normalisation by the root mean square of the channels of each position: y = x / sqrt(mean(x^2) +
/// epsilon) weight.
///
/// shape    (N, C, S...) -> (N, C, S...)
/// options  Affine<true> · Epsilon<1e-5>; torch's default is the smallest step of its type
/// state    weight (C); none with Affine<false>
/// units    dimensionless
/// errors   compile: an unknown option
/// numerics sums in Precision::accumulate
/// cost     forward: one read, one write; backward: two reads, one write
/// source   Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019
template <class... Options> struct RMSNorm {
  static constexpr char const* name = "rms_norm";
  static constexpr Role role = Role::row;
  static constexpr bool centered = false;
  static constexpr bool affine = detail::find_affine<Options...>();
  static constexpr double epsilon = detail::find_epsilon<Options...>();
  static constexpr bool valid_options = detail::are_row_options<Options...>;

  static constexpr bool accepts(Shape) { return valid_options; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<false, Where>,
        "RMSNorm: the options are Affine<...> and Epsilon<...>, each once, and Epsilon is "
        "positive.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
