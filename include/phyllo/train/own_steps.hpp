// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/network/network_tensors.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// One work item: the StepState of tensors that have missed steps, behind AdvanceState. All is as
/// in the model's but the count of steps and the rule's numbers, which are of their own updates.
template <class Rule> struct AdvanceOwnSteps {
  Rule rule;
  StepState const* state = nullptr;  // the model's
  StepState* own = nullptr;

  KOKKOS_FUNCTION void operator()(int k) const {
    StepState s = *state;
    s.step = own[k].step;
    for (int i = 0; i < StepState::most_rule_numbers; ++i) s.of_rule[i] = own[k].of_rule[i];
    if (s.finite != 0) {
      ++s.step;
      rule.prepare(s);
    }
    own[k] = s;
  }
};

/// Which tensors are frozen, and how many steps each has missed for it. A tensor that is updated
/// again counts its own steps, because a rule's moments are those of its own updates: bias
/// corrections of all steps would make the first of them several times too long. Tensors that have
/// missed nothing share the model's StepState.
///
/// options  M: the model
/// state    of each tensor: steps missed, and the rule's numbers of a step when it was frozen; a
///          StepState for each distinct number of missed steps
/// source   torch.optim: parameters without a gradient keep their count of steps
template <class M> class OwnSteps {
 public:
  using space = typename M::space;
  static constexpr auto table = network_tensors(M::nodes);
  static constexpr std::size_t rule_numbers = StepState::most_rule_numbers;
  /// Numbers of a tensor in `stored`.
  static constexpr std::size_t stored_numbers = 1 + rule_numbers;

  OwnSteps(M const& model, std::string label)
      : label_(std::move(label)), state_(model.state()), tensors_(std::size_t(table.size)) {}

  bool is_of(M const& model) const { return model.state().data() == state_.data(); }
  bool is_frozen(int tensor) const { return at(tensor).frozen; }
  /// Which StepState of `data` a tensor has; -1: the model's.
  int place(int tensor) const { return at(tensor).place; }
  /// Steps that a tensor has missed, without those since it was frozen.
  std::uint64_t missed(int tensor) const { return at(tensor).missed; }
  int count() const { return count_; }
  /// How often places were given anew.
  long arrangements() const { return arrangements_; }
  /// (count) in memory of the execution space, where they stay.
  StepState* data() const { return own_.data(); }

  /// Blocks.
  void set_frozen(space const& exec, int tensor, bool frozen) {
    Tensor& t = tensors_[std::size_t(tensor)];
    if (t.frozen == frozen) return;
    Now const now = read(exec);
    if (frozen) {
      t.numbers = now.of(t).numbers();
      t.since = now.model.step;
    } else {
      t.missed += now.model.step - t.since;
    }
    t.frozen = frozen;
    arrange(exec, now);
  }

  /// Blocks. For checkpoints: of each tensor the steps that it has missed, then the rule's numbers;
  /// empty where none has missed any.
  std::vector<double> stored(space const& exec) const {
    bool any = false;
    for (Tensor const& t : tensors_) any = any || t.frozen || t.missed > 0;
    if (!any) return {};
    Now const now = read(exec);
    std::vector<double> all;
    std::uint64_t most = 0;
    for (Tensor const& t : tensors_) {
      std::uint64_t const missed = t.missed + (t.frozen ? now.model.step - t.since : 0);
      most = std::max(most, missed);
      all.push_back(double(missed));
      auto const numbers = t.frozen ? t.numbers : now.of(t).numbers();
      all.insert(all.end(), numbers.word, numbers.word + rule_numbers);
    }
    return most > 0 ? all : std::vector<double>();
  }
  /// Blocks. Takes over what `stored` returned, once the model has its StepState; which tensors are
  /// frozen stays as it is.
  void restore(space const& exec, std::vector<double> const& all) {
    bool changes = !all.empty();
    for (Tensor const& t : tensors_) changes = changes || t.frozen || t.missed > 0;
    if (!changes) return;
    Now const now = read(exec);
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      Tensor& t = tensors_[k];
      double const* const numbers = all.empty() ? nullptr : all.data() + k * stored_numbers;
      t.missed = numbers == nullptr ? 0 : std::uint64_t(numbers[0]);
      t.numbers = Numbers::of(now.model);
      if (t.missed > 0) std::copy_n(numbers + 1, rule_numbers, t.numbers.word);
      t.since = now.model.step;
      t.place = -1;
    }
    arrange(exec, now);
  }

 private:
  using Host = Kokkos::View<StepState, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  using HostOwn = Kokkos::View<StepState*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  // Of a rule, in one step.
  struct Numbers {
    double word[rule_numbers] = {};

    static Numbers of(StepState const& s) {
      Numbers n;
      std::copy_n(s.of_rule, rule_numbers, n.word);
      return n;
    }
  };
  struct Tensor {
    bool frozen = false;
    int place = -1;
    std::uint64_t missed = 0, since = 0;  // since: the model's step when it was frozen
    Numbers numbers;                      // when it was frozen
  };
  // What the last step has left.
  struct Now {
    struct State {
      StepState const& state;
      Numbers numbers() const { return Numbers::of(state); }
    };
    StepState model;
    std::vector<StepState> own;

    State of(Tensor const& t) const { return {t.place < 0 ? model : own[std::size_t(t.place)]}; }
  };

  Tensor const& at(int tensor) const { return tensors_[std::size_t(tensor)]; }
  Now read(space const& exec) const {
    Now now{{}, std::vector<StepState>(std::size_t(count_))};
    Kokkos::deep_copy(exec, Host(&now.model), state_);
    if (count_ > 0)
      Kokkos::deep_copy(exec, HostOwn(now.own.data(), now.own.size()),
                        Kokkos::subview(own_, std::pair(0, count_)));
    exec.fence("phyllo: steps of tensors");
    return now;
  }
  // One StepState for all tensors that have missed as many steps.
  void arrange(space const& exec, Now const& now) {
    ++arrangements_;
    std::vector<StepState> own;
    for (Tensor& t : tensors_) {
      auto const numbers = t.place < 0 ? t.numbers : now.of(t).numbers();
      t.place = -1;
      if (t.frozen || t.missed == 0) continue;
      StepState s = now.model;
      s.step = now.model.step - t.missed;
      std::copy_n(numbers.word, rule_numbers, s.of_rule);
      auto const same = std::find_if(own.begin(), own.end(),
                                     [&](StepState const& o) { return o.step == s.step; });
      t.place = int(same - own.begin());
      if (same == own.end()) own.push_back(s);
    }
    count_ = int(own.size());
    if (count_ == 0) return;
    // Room for all, once.
    if (own_.size() == 0)
      own_ = allocate<decltype(own_)>(label_ + " steps of tensors", table.size,
                                      "Train without frozen tensors.", exec);
    Kokkos::deep_copy(exec, Kokkos::subview(own_, std::pair(0, count_)),
                      HostOwn(own.data(), own.size()));
    exec.fence("phyllo: steps of tensors");
  }

  std::string label_;
  Kokkos::View<StepState, typename M::memory_space> state_;
  std::vector<Tensor> tensors_;
  typename M::template Vector<StepState> own_;
  int count_ = 0;
  long arrangements_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
