// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/loss/option_range.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Cross-entropy against a target that is 1 - smoothing + smoothing / C for the class and smoothing
/// / C for all others; torch's CrossEntropyLoss with label_smoothing.
///
/// shape    as CrossEntropy
/// options  smoothing = 0.1, from 0 to 1
/// errors   as CrossEntropy
/// numerics as CrossEntropy
/// cost     as CrossEntropy, and one sum of the logits
/// source   Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016,
///          §7
struct SmoothedCrossEntropy {
  static constexpr char const* name = "smoothed_cross_entropy";
  static constexpr bool classes = true;
  static constexpr bool side_by_side = true;
  double smoothing = 0.1;

  void check(std::string const& who, Shape const&) const {
    detail::OptionRange{.option = "smoothing", .least = 0, .most = 1}.check(who, smoothing);
  }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    using T = typename Row::number;
    T const share = T(smoothing / double(z.channels())), rest = T(1 - smoothing);
    auto const softmax = z.softmax();
    z.gradient(softmax, [&](int c, auto const& p) { return p - (rest * z.is_label(c) + share); });
    return logarithm(softmax.sum) + softmax.largest - rest * z.at_label(z) -
           share * z.sum([&](int c) { return z(c); });
  }
};

/// Cross-entropy of logits against probabilities: -sum over c of target_c ln softmax(z)_c.
///
/// shape    outputs (logits) and targets (probabilities) (N, C) or (N, C, spatial...)
/// errors   none; targets need not add up to one
/// numerics shifted by the largest logit; values and gradients in the accumulation type
/// cost     2 exponentials per logit
/// source   Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network",
///          arXiv:1503.02531, §2
struct SoftCrossEntropy {
  static constexpr char const* name = "soft_cross_entropy";
  static constexpr bool classes = false;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    using T = typename Row::number;
    T const total = z.sum([&](int c) { return z.target(c); });
    T const product = z.sum([&](int c) { return z.target(c) * z(c); });
    auto const softmax = z.softmax();
    T const normalization = logarithm(softmax.sum) + softmax.largest;
    z.gradient(softmax, [&](int c, T p) { return total * p - z.target(c); });
    return total * normalization - product;
  }
};

/// Cross-entropy times (1 - p)^gamma, p = softmax(z)[class]: samples that are already right count
/// less.
///
/// shape    as CrossEntropy
/// options  gamma = 2, at least 0
/// errors   as CrossEntropy
/// numerics as CrossEntropy; 1 - p is computed from the other classes' sum, so that it keeps its
///          digits
/// cost     as CrossEntropy, and one power a row
/// source   Lin et al., "Focal Loss for Dense Object Detection", ICCV 2017, eq. 4
struct FocalLoss {
  static constexpr char const* name = "focal_loss";
  static constexpr bool classes = true;
  double gamma = 2;

  void check(std::string const& who, Shape const&) const {
    detail::OptionRange{.option = "gamma", .least = 0}.check(who, gamma);
  }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    using T = typename Row::number;
    auto const softmax = z.softmax();
    T const chosen = z.at_label(z), shift = softmax.largest;
    T const others =
        z.sum([&](int c) { return (T(1) - z.is_label(c)) * decay(z(c) - shift); }) / softmax.sum;
    T const entropy = logarithm(softmax.sum) + shift - chosen, p = decay(-entropy);
    T const power =
        others > T(0) ? exponential(T(gamma) * logarithm(others)) : (gamma == 0 ? T(1) : T(0));
    // p ln p / (1 - p) is -1 where 1 - p vanishes.
    T const ratio = others > T(0) ? -p * entropy / others : T(-1);
    T const slope = power * (T(gamma) * ratio - T(1));
    z.gradient(softmax, [&](int c, T share) { return slope * (z.is_label(c) - share); });
    return power * entropy;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
