// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/row_loops.hpp>

#include <Kokkos_NumericTraits.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::op {

/// The channels of one position of an output, as a loss reads them.
template <class Storage, class Accumulate> struct OutputRow {
  Storage const* row = nullptr;  // (C)
  PHYLLO_FUNCTION Accumulate operator()(int c) const { return Accumulate(row[c]); }
};

/// The target of one position: channel c, or the class index (c ignored: its extent is one).
template <class L, class Accumulate> struct TargetRow {
  ExternalTensor const& targets;
  int sample = 0;
  int position[3] = {0, 0, 0};  // depth, height, width

  PHYLLO_FUNCTION TargetRow(ExternalTensor const& t, int n, Shape const& s, int p)
      : targets(t),
        sample(n),
        position{p / s.spatial[2] / s.spatial[1], p / s.spatial[2] % s.spatial[1],
                 p % s.spatial[2]} {}
  PHYLLO_FUNCTION auto operator()(int c) const {
    if constexpr (L::classes)
      return targets.template read<long long>(sample, 0, position[0], position[1], position[2]);
    else
      return targets.template read<Accumulate>(sample, c, position[0], position[1], position[2]);
  }
};

/// Stores the gradient of one row, times a factor; for a null row it stores nothing.
template <class Storage, class Accumulate> struct GradientRow {
  Storage* row = nullptr;  // (C)
  Accumulate factor = 1;
  bool accumulate = false;
  PHYLLO_FUNCTION bool wanted() const { return row != nullptr; }
  /// The address of the gradient if it is stored unrounded and not added to, or nullptr.
  PHYLLO_FUNCTION Accumulate* exact() const {
    if constexpr (std::is_same_v<Storage, Accumulate>)
      return accumulate ? nullptr : row;
    else
      return nullptr;
  }
  PHYLLO_FUNCTION void operator()(int c, Accumulate value) const {
    Accumulate const d = factor * value;
    row[c] = Storage(accumulate ? Accumulate(row[c]) + d : d);
  }
  /// Whether a channel that has no gradient is to be written as zero.
  PHYLLO_FUNCTION bool needs_zeros() const { return row != nullptr && !accumulate; }
  PHYLLO_FUNCTION void clear(int c) const { row[c] = Storage(Accumulate(0)); }
};

/// One row as a loss sees it: the C channels of one position, its target, and where its gradient
/// goes. docs/25_write_a_loss.md lists what a loss may call.
///
/// options  Loops: op/row_loops.hpp · Target: the channels of the target, or the class index
template <class L, class Storage, class Accumulate, class Loops, class Target> class LossRow {
 public:
  using number = Accumulate;

  PHYLLO_INLINE LossRow(Loops const& loops, int channels, Storage const* z, Target const& target,
                        GradientRow<Storage, Accumulate> const& gradient)
      : loops_(loops), channels_(channels), z_{z}, target_(target), gradient_(gradient) {
    if constexpr (L::classes) label_ = label_of<L>(target(0), channels);
  }

  /// The loss of the row. Channels whose gradient it does not give have the gradient zero.
  PHYLLO_INLINE number evaluate(L const& loss) const {
    number const value = number(loss(*this));
    clear(0, given_from_);
    clear(given_to_, channels_);
    return value;
  }

  PHYLLO_INLINE int channels() const { return channels_; }
  PHYLLO_INLINE number operator()(int c) const { return z_(c); }
  PHYLLO_INLINE number target(int c) const { return number(target_(c)); }
  /// One for the channel of the target's class, else zero.
  PHYLLO_INLINE number is_label(int c) const { return c == label_ ? number(1) : number(0); }
  /// x(class), or not a number for a class index outside 0..C-1; zero for an ignored one.
  template <class X> PHYLLO_INLINE number at_label(X const& x) const {
    if constexpr (ignores_labels<L>)
      if (label_ == -2) return number(0);
    return label_ < 0 ? Kokkos::Experimental::quiet_NaN_v<number> : number(x(label_));
  }
  /// Zero where the class index is that which the loss ignores, else one.
  PHYLLO_INLINE number counts() const { return label_ == -2 ? number(0) : number(1); }

  template <class Term> PHYLLO_INLINE number sum(Term const& term) const {
    return sum(channels_, term);
  }
  /// Over the first `count` channels.
  template <class Term> PHYLLO_INLINE number sum(int count, Term const& term) const {
    return loops_.template sum<number>(count, term);
  }
  /// d loss / d z_c = derivative(c): computed where it is wanted only. Once for each channel.
  template <class Derivative> PHYLLO_INLINE void gradient(Derivative const& derivative) const {
    gradient(0, channels_, derivative);
  }
  /// Of channels first .. first + count - 1: parts of a row with formulas of their own, in rising
  /// order.
  template <class Derivative>
  PHYLLO_INLINE void gradient(int first, int count, Derivative const& derivative) const {
    give(first, first + count);
    if (gradient_.wanted())
      loops_.for_each(count, [&](int c) { gradient_(first + c, derivative(first + c)); });
  }
  /// {largest, sum}: of z, and of exp(z - largest). Uses the memory of the gradient until a part of
  /// that is stored.
  PHYLLO_INLINE auto softmax() const {
    number* const room = given_from_ == given_to_ ? gradient_.exact() : nullptr;
    return loops_.template softmax<number>(channels_, z_, room);
  }
  /// The gradient of a loss of the softmax p: derivative(c, p_c).
  template <class Softmax, class Derivative>
  PHYLLO_INLINE void gradient(Softmax const& s, Derivative const& derivative) const {
    give(0, channels_);
    if (gradient_.wanted())
      loops_.for_each(s, channels_, z_, [&](int c, number p) { gradient_(c, derivative(c, p)); });
  }

  /// One if the first maximal channel is the class index, else zero. The first channel is the
  /// maximal one where nothing compares, as among not-a-numbers.
  PHYLLO_INLINE number correct() const {
    if (label_ < 0) return number(0);
    int const at = label_;
    number const chosen = z_(at);
    if (loops_.any(0, at, [&](int c) { return !(z_(c) < chosen); })) return number(0);
    return loops_.any(at + 1, channels_, [&](int c) { return z_(c) > chosen; }) ? number(0)
                                                                                : number(1);
  }

 private:
  PHYLLO_INLINE void clear(int from, int to) const {
    if (from < to && gradient_.needs_zeros())
      loops_.for_each(to - from, [&](int c) { gradient_.clear(from + c); });
  }
  PHYLLO_INLINE void give(int from, int to) const {
    if (given_from_ == given_to_) {
      given_from_ = from;
      given_to_ = to;
    } else {
      clear(given_to_, from);
      clear(to, given_from_);
      given_from_ = from < given_from_ ? from : given_from_;
      given_to_ = to > given_to_ ? to : given_to_;
    }
  }

  Loops loops_;
  int channels_;
  mutable int given_from_ = 0, given_to_ = 0;  // channels that have a gradient, or zeros between
  OutputRow<Storage, Accumulate> z_;
  Target const& target_;
  GradientRow<Storage, Accumulate> gradient_;
  int label_ = -1;
};

}  // namespace phyllo::inline PHYLLO_ISA::op
