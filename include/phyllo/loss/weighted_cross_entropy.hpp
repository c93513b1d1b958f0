// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>

#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// Cross-entropy times the weight of the target's class, for classes of unequal frequency:
/// weight[class] (ln(sum of exp(z)) - z[class]). Pass the weights by
/// trainer.set_loss(WeightedCrossEntropy(weights)); all weights are one before.
///
/// shape    as CrossEntropy · weights (C), contiguous floats
/// state    a pointer to the weights: the View must live as long as the Trainer, in memory that its
///          execution space can read; the next step reads the weights again
/// errors   compile: weights of another type · run: another number of weights than C, or weights
///          that are not contiguous, in set_loss; class indices as in CrossEntropy
/// numerics the mean divides by the number of samples, not by the sum of their weights as torch
///          does
/// cost     as CrossEntropy
struct WeightedCrossEntropy {
  static constexpr char const* name = "weighted_cross_entropy";
  static constexpr bool classes = true;
  static constexpr bool side_by_side = true;

  float const* weights = nullptr;
  int count = 0;

  WeightedCrossEntropy() = default;
  template <class View>
  explicit WeightedCrossEntropy(View const& v)
      : weights(static_cast<float const*>(static_cast<void const*>(v.data()))),
        count(v.extent(0) < 2 || v.stride(0) == 1 ? int(v.extent(0)) : -1) {
    static_assert(std::is_same_v<typename View::non_const_value_type, float> && View::rank() == 1,
                  "WeightedCrossEntropy: the weights are a View of floats, (C).");
  }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    using T = typename Row::number;
    float const* const of_class = weights;
    T const weight = of_class == nullptr ? T(1) : z.at_label([&](int c) { return of_class[c]; });
    auto const softmax = z.softmax();
    z.gradient(softmax, [&](int c, auto const& p) { return weight * (p - z.is_label(c)); });
    return weight * (logarithm(softmax.sum) + softmax.largest - z.at_label(z));
  }

  void check(std::string const& who, Shape const& outputs) const {
    if (weights == nullptr || count == outputs.channels) return;
    throw Error(
        who + ": expected " + std::to_string(outputs.channels) +
        " contiguous class weights, one for each channel of the output" +
        (count < 0 ? ", got weights with a stride." : ", got " + std::to_string(count) + "."));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
