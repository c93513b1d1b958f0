// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// In place of a View of targets, for a loss of the outputs alone: trainer.step(x, no_targets).
///
/// errors   compile: a loss that reads targets
struct NoTargets {};
inline constexpr NoTargets no_targets = {};

namespace detail {

template <class L>
inline constexpr bool states_targets = requires {
  { L::name } -> std::convertible_to<char const*>;
  { L::classes } -> std::convertible_to<bool>;
};

template <class L>
inline constexpr bool is_held_loss =
    std::is_empty_v<L> || (std::is_trivially_copyable_v<L> && sizeof(L) <= 16);

// Replaces a refused loss: the compiler then reports the refusal only.
struct RefusedLoss {
  static constexpr char const* name = "refused";
  static constexpr bool classes = false;
  template <class Row> PHYLLO_FUNCTION typename Row::number operator()(Row const&) const {
    return 0;
  }
};

}  // namespace detail

/// One loss of several: that of the output Tag, times Weight.
///
/// options  Tag: of an Output<Tag> · L: a loss · Weight = 1: a number of any arithmetic type
/// errors   compile: a weight that is no number
template <class Tag, class L, auto Weight = 1.0> struct On {
  static_assert(std::is_arithmetic_v<decltype(Weight)>,
                "On<tag, Loss, Weight>: the weight is a number, such as 0.5 or 2.");
  static_assert(detail::is_held_loss<L>,
                "A loss has at most 16 bytes of trivially copyable members. Store larger state in "
                "device memory, and a pointer to it in the loss; if this is a rule, note the order "
                "Trainer<Net, Loss, Rule>.");
  static_assert(detail::states_targets<L> || !detail::is_held_loss<L>,
                "A loss states its `name`, and in `static constexpr bool classes` whether its "
                "targets are class indices; see docs/25_write_a_loss.md.");
  using tag = Tag;
  using loss = std::conditional_t<detail::states_targets<L>, L, detail::RefusedLoss>;
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
template <class T> inline constexpr bool is_on = false;
template <class Tag, class L, auto Weight> inline constexpr bool is_on<On<Tag, L, Weight>> = true;
template <class... Terms> struct LossTerms<Losses<Terms...>> {
  static_assert((is_on<Terms> && ...),
                "Losses: expected On<tag, Loss, Weight> for each output. A network with one output "
                "takes the loss without Losses.");
  // After a mistake as if each were of the output, so that it is the only one reported.
  using type = Losses<std::conditional_t<is_on<Terms>, Terms, On<TheOutput, Terms>>...>;
};

template <int Index, class L> struct LossAt {
  L loss = {};
};
template <int Index, class L> L& get_loss(LossAt<Index, L>& at) { return at.loss; }
template <int Index, class L> L const& get_loss(LossAt<Index, L> const& at) { return at.loss; }

template <class Indices, class... L> struct LossesAt;
template <std::size_t... I, class... L>
struct LossesAt<std::index_sequence<I...>, L...> : LossAt<int(I), L>... {};

}  // namespace detail

/// The losses of a Trainer as objects, whose members change at run time.
template <class... Terms> class LossSet {
 public:
  /// Of the loss of the output Tag; -1: none.
  template <class Tag>
  static constexpr int index_of = [] {
    bool const found[] = {std::is_same_v<typename Terms::tag, Tag>...};
    for (int k = 0; k < int(sizeof...(Terms)); ++k)
      if (found[k]) return k;
    return -1;
  }();

  template <class Tag> auto const& loss_of() const {
    return detail::get_loss<index_of<Tag>>(losses_);
  }

  template <class Tag, class L> void set_loss(L const& loss) {
    constexpr int at = index_of<Tag>;
    static_assert(at >= 0,
                  "set_loss<tag>: no loss of the Trainer is of this output. Use the tag of one of "
                  "its On<tag, Loss>, and no tag for a Trainer with one loss.");
    if constexpr (at >= 0) {
      auto& own = detail::get_loss<at>(losses_);
      constexpr bool same = std::is_same_v<L, std::remove_reference_t<decltype(own)>>;
      static_assert(same, "set_loss: the loss is of another type than the Trainer's.");
      if constexpr (same) own = loss;
    }
  }

 private:
  detail::LossesAt<std::index_sequence_for<Terms...>, typename Terms::loss...> losses_;
};

}  // namespace phyllo::inline PHYLLO_ISA
