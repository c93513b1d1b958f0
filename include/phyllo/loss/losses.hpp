// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// One loss of several: that of the output Tag, times Weight.
///
/// options  Tag: of an Output<Tag> · L: a loss · Weight = 1: a number of any arithmetic type
/// errors   compile: a weight that is no number
template <class Tag, class L, auto Weight = 1.0> struct On {
  static_assert(std::is_arithmetic_v<decltype(Weight)>,
                "On<tag, Loss, Weight>: the weight is a number, such as 0.5 or 2.");
  using tag = Tag;
  using loss = L;
  static constexpr double weight = double(Weight);
};

/// The weighted sum of losses on several outputs: Losses<On<a, CrossEntropy>, On<b,
/// MeanSquaredError, 0.5>>.
///
/// errors   compile: an output without a loss or with two
template <class... Terms> struct Losses {
  static constexpr int size = int(sizeof...(Terms));
};

namespace detail {

struct TheOutput;  // the tag of a network's only output, which needs no name

template <class L> struct LossTerms {
  using type = Losses<On<TheOutput, L>>;
};
template <class... Terms> struct LossTerms<Losses<Terms...>> {
  using type = Losses<Terms...>;
};

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
