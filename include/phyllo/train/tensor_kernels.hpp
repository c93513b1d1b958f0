// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/train/optimizer_kernels.hpp>
#include <phyllo/train/rule_tensor.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One work item of a processor: the rule's sums over one block of one tensor, in partial sums of
/// `lanes` elements. Frozen tensors, and all in a step that does not count, are left alone.
///
/// options  Rule: one that reads_tensors · T: the precision's accumulate
template <class Rule, class T> struct MeasureTensors {
  static constexpr int sums = Rule::tensor_sums, lanes = 16;
  using Tensor = RuleTensor<T, Rule::tensor_numbers>;

  Rule rule;
  StepState const* state = nullptr;
  T const* gradients = nullptr;  // of this rank's share, as the next two
  T const* master = nullptr;
  T* rule_state = nullptr;  // (Rule::states, size)
  long size = 0;
  long first = 0;  // element of the arena at which the share begins
  TensorArena<T> tensors;

  KOKKOS_FUNCTION void operator()(int b) const {
    TensorBlock const block = tensors.blocks[b];
    StepState const s = tensors.step_of(block.tensor, state);
    if (is_skipped(s, block)) return;
    MeasureTensors const u = *this;  // a copy, which no store below can change
    Tensor const tensor = u.tensors.template tensor<Rule::tensor_numbers>(block.tensor);
    T partial[sums][lanes] = {}, total[sums] = {};
    int i = 0;
    for (; i + lanes <= block.count; i += lanes) {
      PHYLLO_SIMD(16)
      for (int l = 0; l < lanes; ++l)
        u.add(block.first + i + l, s, tensor, &partial[0][0] + l, lanes);
    }
    for (; i < block.count; ++i) u.add(block.first + i, s, tensor, total, 1);
    for (int k = 0; k < sums; ++k) {
      for (int l = 0; l < lanes; ++l) total[k] += partial[k][l];
      tensors.sums[long(b) * sums + k] = total[k];
    }
  }

  PHYLLO_INLINE bool is_skipped(StepState const& s, TensorBlock const& block) const {
    return s.finite == 0 || tensors.entries[block.tensor].frozen != 0;
  }
  /// Adds the terms of an element to sum[0], sum[stride] ... A function of its own: GCC does not
  /// vectorise a loop that declares an array.
  PHYLLO_INLINE void add(int element, StepState const& s, Tensor const& tensor, T* sum,
                         int stride) const {
    T terms[sums] = {};
    measure(element, s, tensor, terms);
    for (int k = 0; k < sums; ++k) sum[k * stride] += terms[k];
  }
  /// element: of the arena.
  PHYLLO_INLINE void measure(int element, StepState const& s, Tensor const& tensor,
                             T* terms) const {
    long const i = element - first;
    rule.measure(master[i], gradients[i] * T(s.gradient_factor), rule_state + i, size, s, tensor,
                 terms);
  }
};

/// The rule's sums over a block, as Kokkos joins those of a team's threads.
template <class T, int N> struct TensorSums {
  T sum[N] = {};
};
template <class T, int N> struct TensorSumsReducer {
  using reducer = TensorSumsReducer;
  using value_type = TensorSums<T, N>;
  using result_view_type =
      Kokkos::View<value_type, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  PHYLLO_INLINE explicit TensorSumsReducer(value_type& result) : value_(&result) {}
  PHYLLO_INLINE void join(value_type& to, value_type const& from) const {
    for (int k = 0; k < N; ++k) to.sum[k] += from.sum[k];
  }
  PHYLLO_INLINE void init(value_type& v) const { v = {}; }
  PHYLLO_INLINE value_type& reference() const { return *value_; }
  PHYLLO_INLINE result_view_type view() const { return result_view_type(value_); }
  PHYLLO_INLINE bool references_scalar() const { return true; }

 private:
  value_type* value_;
};

/// The same on a device: a team sums one block.
///
/// numerics sums in an order that depends on the team's size only
template <class Rule, class T> struct MeasureTensorsByTeam {
  static constexpr int team = 256;  // threads

  MeasureTensors<Rule, T> work;

  template <class Member> KOKKOS_FUNCTION void operator()(Member const& member) const {
    constexpr int sums = Rule::tensor_sums;
    int const b = member.league_rank();
    TensorBlock const block = work.tensors.blocks[b];
    StepState const s = work.tensors.step_of(block.tensor, work.state);
    if (work.is_skipped(s, block)) return;
    auto const tensor = work.tensors.template tensor<Rule::tensor_numbers>(block.tensor);
    TensorSums<T, sums> all;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(member, block.count),
        [&](int i, TensorSums<T, sums>& own) {
          T terms[sums] = {};
          work.measure(block.first + i, s, tensor, terms);
          for (int k = 0; k < sums; ++k) own.sum[k] += terms[k];
        },
        TensorSumsReducer<T, sums>(all));
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      for (int k = 0; k < sums; ++k) work.tensors.sums[long(b) * sums + k] = all.sum[k];
    });
  }
};

/// One work item: one tensor. Adds its blocks in their order, then prepares the rule's numbers of
/// it; or stores the sums of this rank's share, which PrepareTensors reads as those of all ranks.
template <class Rule, class T> struct JoinTensors {
  static constexpr int sums = Rule::tensor_sums, numbers = Rule::tensor_numbers;

  Rule rule;
  StepState const* state = nullptr;
  TensorArena<T> tensors;
  T* totals = nullptr;  // (tensors, sums); nullptr: the share is the whole arena

  KOKKOS_FUNCTION void operator()(int t) const {
    StepState const s = tensors.step_of(t, state);
    TensorEntry const entry = tensors.entries[t];
    bool const counts = s.finite != 0 && entry.frozen == 0;
    T sum[sums > 0 ? sums : 1] = {};
    for (int b = 0; counts && b < entry.blocks; ++b)
      for (int k = 0; k < sums; ++k) sum[k] += tensors.sums[long(entry.first_block + b) * sums + k];
    if (totals != nullptr)
      for (int k = 0; k < sums; ++k) totals[long(t) * sums + k] = sum[k];
    else if (counts)
      prepare(t, s, sum);
  }

  PHYLLO_INLINE void prepare(int t, StepState const& s, T const* sum) const {
    auto tensor = tensors.template tensor<numbers>(t);
    rule.prepare_tensor(sum, s, tensor);
    for (int k = 0; k < numbers; ++k) tensors.numbers[long(t) * numbers + k] = tensor.numbers[k];
  }
};

/// One work item: one tensor. Prepares the rule's numbers from the sums of all ranks.
template <class Rule, class T> struct PrepareTensors {
  JoinTensors<Rule, T> join;

  KOKKOS_FUNCTION void operator()(int t) const {
    StepState const s = join.tensors.step_of(t, join.state);
    if (s.finite == 0 || join.tensors.entries[t].frozen != 0) return;
    join.prepare(t, s, join.totals + long(t) * Rule::tensor_sums);
  }
};

/// UpdateParameters of a rule that reads_tensors: an item's run ends where a tensor does, so that
/// the rule's numbers are constants of the loop.
template <class Rule, class Storage, class T, int Run> struct UpdateTensors {
  UpdateParameters<Rule, Storage, T, Run> run;
  long first = 0;  // element of the arena at which the run of all items begins
  TensorArena<T> tensors;

  KOKKOS_FUNCTION void operator()(int item) const {
    StepState const of_all = *run.state;
    if (of_all.finite == 0) return run.restore(item);
    UpdateTensors const u = *this;  // a copy, which no store below can change
    T const factor = T(of_all.gradient_factor);
    long const size = u.run.size;
    long const last = long(item + 1) * Run < size ? long(item + 1) * Run : size;
    for (long begin = long(item) * Run; begin < last;) {
      int const t = u.tensors.index_of(u.first + begin);
      long const behind = u.tensors.entries[t].end - u.first;
      long const end = behind < last ? behind : last;
      auto const tensor = u.tensors.template tensor<Rule::tensor_numbers>(t);
      StepState const s = u.tensors.step_of(t, u.run.state);
      PHYLLO_SIMD(16)
      for (long i = begin; i < end; ++i) {
        T const w = u.run.rule.update(u.run.master[i], u.run.gradients[i] * factor,
                                      u.run.rule_state + i, u.run.stride, s, tensor);
        u.run.master[i] = w;
        u.run.round(w, i);
      }
      begin = end;
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
