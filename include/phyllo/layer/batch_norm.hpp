// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// The samples that a batch normalisation averages over: Statistics::Local, those of this rank, or
/// Statistics::Global, those of all ranks.
struct Statistics {
  struct Local;   // this rank's
  struct Global;  // those of all ranks: sums are reduced in the middle of the step
};

/// Batch normalisation per channel: y = (x - mean) / sqrt(variance + epsilon) * weight + bias.
///
/// shape    (N, C, S...) -> (N, C, S...)
/// options  Statistics::Local | Statistics::Global · Affine<true> · Epsilon<1e-5> · Momentum<0.1>
/// state    weight (C), bias (C); none with Affine<false> · buffers running_mean (C) and
///          running_var (C), float32, averaged with the momentum and the unbiased variance;
///          inference reads the buffers. A batch with one number of a channel, which has no
///          variance, leaves them as they are
/// units    dimensionless
/// errors   compile: an unknown option, or one twice
/// numerics mean first, then centred squares; sums in Precision::accumulate
/// cost     training: three reads, one write; inference: none when folded into a contraction
/// source   Ioffe and Szegedy, "Batch Normalization", ICML 2015
template <class... Options> struct BatchNorm {
  static constexpr char const* name = "batch_norm";
  static constexpr Role role = Role::normalization;
  static constexpr bool global_statistics =
      (std::is_same_v<Options, Statistics::Global> || ... || false);
  static constexpr bool affine = detail::find_affine<Options...>();
  static constexpr double momentum = detail::find_momentum<Options...>();
  static constexpr double epsilon = detail::find_epsilon<Options...>();

  template <class Option>
  static constexpr bool is_statistics =
      std::is_same_v<Option, Statistics::Local> || std::is_same_v<Option, Statistics::Global>;
  static constexpr bool valid_options =
      ((is_statistics<Options> || detail::is_affine<Options> || detail::is_epsilon<Options> ||
        detail::is_momentum<Options>) &&
       ...) &&
      (int(is_statistics<Options>) + ... + 0) <= 1 &&
      (int(detail::is_affine<Options>) + ... + 0) <= 1 &&
      (int(detail::is_epsilon<Options>) + ... + 0) <= 1 &&
      (int(detail::is_momentum<Options>) + ... + 0) <= 1;

  static constexpr bool accepts(Shape) { return valid_options; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<false, Where>,
        "BatchNorm: the options are Statistics::Local or Statistics::Global, Affine<...>, "
        "Epsilon<...> above 0 and Momentum<...> above 0 and at most 1, each once.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
