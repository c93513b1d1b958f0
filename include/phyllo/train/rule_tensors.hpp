// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/train/frozen_tensors.hpp>
#include <phyllo/train/rule_tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// What a rule that reads_tensors has of them in memory of the execution space, made once. Other
/// rules have nothing.
///
/// options  Rule: the rule · M: its Model
/// state    an entry for each tensor and block, an index for each 16 parameters, sums
template <class Rule, class M> class RuleTensors {
 public:
  using space = typename M::space;
  using accumulate = typename M::accumulate;
  static constexpr auto table = network_tensors(M::nodes);
  static constexpr int sums = detail::tensor_sums<Rule>();
  static constexpr int numbers = detail::tensor_numbers<Rule>();
  static constexpr bool is_read = reads_tensors<Rule>;
  static_assert(sums >= 0 && numbers >= 0 && (sums == 0 || numbers > 0),
                "Optimizer: expected a rule with tensor_sums to keep what it makes of them, got "
                "tensor_numbers = 0. Declare tensor_numbers of at least 1.");

  /// block: elements of which one work item makes the rule's sums.
  RuleTensors(space const& exec, std::string const& label, Rule const& rule,
              FrozenTensors::Range share, long block) {
    if constexpr (is_read) {
      for (int t = 0; t < table.size; ++t) add(rule, t, share, block);
      std::vector<int> tensor_of(std::size_t(M::nodes.arena_size / parameter_alignment));
      for (std::size_t t = 0; t < host_.size(); ++t)
        for (int i = host_[t].first; i < host_[t].end; i += parameter_alignment)
          tensor_of[std::size_t(i / parameter_alignment)] = int(t);
      store(exec, label + " tensors", entries_, host_);
      store(exec, label + " tensor blocks", blocks_, host_blocks_);
      store(exec, label + " tensor map", tensor_of_, tensor_of);
      sums_ = room<decltype(sums_)>(exec, label + " tensor sums", block_count() * sums);
      totals_ = room<decltype(totals_)>(exec, label + " tensor totals", table.size * sums);
    }
  }

  /// Blocks. set(tensor, entry): what the caller changes of each tensor.
  template <class F> void set_entries(space const& exec, F const& set) {
    if constexpr (is_read) {
      for (int t = 0; t < table.size; ++t) set(t, host_[std::size_t(t)]);
      copy(exec, entries_, host_);
    }
  }
  /// Blocks. Frozen tensors are neither measured nor prepared.
  ///
  /// steps: an OwnSteps
  template <class Steps> void set_steps(space const& exec, Steps const& steps) {
    set_entries(exec, [&](int t, TensorEntry& entry) {
      entry.frozen = steps.is_frozen(t) ? 1 : 0;
      entry.place = steps.place(t);
    });
  }

  long block_count() const { return long(host_blocks_.size()); }
  accumulate* totals() const { return totals_.data(); }
  /// numbers_at: the rule's numbers of tensors, (tensors, numbers); own_steps: of an OwnSteps.
  TensorArena<accumulate> arena(accumulate* numbers_at,
                                StepState const* own_steps = nullptr) const {
    return {entries_.data(), blocks_.data(), tensor_of_.data(),
            own_steps,       numbers_at,     sums_.data()};
  }

 private:
  template <class T> using Vector = typename M::template Vector<T>;

  void add(Rule const& rule, int t, FrozenTensors::Range share, long block) {
    NetworkTensor const& of = table.tensor[t];
    TensorEntry entry;
    entry.first = of.offset;
    entry.count = of.count;
    entry.end = of.offset + of.extent;
    if constexpr (requires { rule.group(of); }) entry.group = rule.group(of);
    entry.first_block = int(host_blocks_.size());
    long const first = of.offset > share.first ? of.offset : share.first;
    long const behind = of.offset + of.count, last = behind < share.second ? behind : share.second;
    if constexpr (sums > 0)
      for (long i = first; i < last; i += block)
        host_blocks_.push_back({t, int(i), int(last - i < block ? last - i : block)});
    entry.blocks = int(host_blocks_.size()) - entry.first_block;
    host_.push_back(entry);
  }
  template <class V> static V room(space const& exec, std::string const& label, long count) {
    return allocate<V>(label, count, "Use a rule that reads no norms of tensors.", exec);
  }
  template <class T>
  static void store(space const& exec, std::string const& label, Vector<T>& to,
                    std::vector<T> const& from) {
    to = room<Vector<T>>(exec, label, long(from.size()));
    copy(exec, to, from);
  }
  template <class T>
  static void copy(space const& exec, Vector<T> const& to, std::vector<T> const& from) {
    using Host = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(exec, to, Host(from.data(), from.size()));
    exec.fence("phyllo: tensors of a rule");
  }

  std::vector<TensorEntry> host_;
  std::vector<TensorBlock> host_blocks_;
  Vector<TensorEntry> entries_;
  Vector<TensorBlock> blocks_;
  Vector<int> tensor_of_;
  Vector<accumulate> sums_, totals_;
};

}  // namespace phyllo::inline PHYLLO_ISA
