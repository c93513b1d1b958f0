// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Cross-entropy, ln(sum of exp(z)) - z[class], without the positions whose class index is Ignored:
/// they have no value and no gradient, and the mean is over all other positions of the batch and of
/// all ranks; torch's CrossEntropyLoss with ignore_index.
///
/// shape    as CrossEntropy
/// options  Ignored = -100
/// errors   compile: beside other losses · run: as CrossEntropy. A batch without a position that
///          counts has no mean, and its step is skipped
/// numerics as CrossEntropy; Evaluation::weight is the sum of the samples' shares of positions that
///          count, and Evaluation::samples that sum rounded down
/// cost     as CrossEntropy, and one more look at the class indices
/// source   torch.nn.CrossEntropyLoss, PyTorch 2.14
template <long long Ignored = -100> struct MaskedCrossEntropy {
  static constexpr char const* name = "masked_cross_entropy";
  static constexpr bool classes = true;
  static constexpr bool side_by_side = true;
  static constexpr long long ignored = Ignored;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    auto const counts = z.counts();
    auto const softmax = z.softmax();
    z.gradient(softmax, [&](int c, auto const& p) { return counts * (p - z.is_label(c)); });
    return counts * (logarithm(softmax.sum) + softmax.largest) - z.at_label(z);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
