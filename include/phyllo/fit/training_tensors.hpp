// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/fit/own_state.hpp>
#include <phyllo/fit/stored_numbers.hpp>
#include <phyllo/io/load.hpp>
#include <phyllo/io/save.hpp>
#include <phyllo/train/trainer.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// A trainer's whole state as tensors of one file, and back: weights and buffers under the names
/// that `save` uses, the rule's numbers as <rule>.<k>.<parameter>, counters, loss scale, rate.
///
/// options  T: a Trainer
/// state    not in the file: what the program passes, such as the rule's rates, schedules, losses,
///          the scaling's interval, frozen tensors
/// threads  as Trainer
/// errors   compile: a policy that keeps numbers of its own between steps · run: a file of another
///          network, rule or precision, or one that is not complete -> Error, and nothing is
///          changed
/// numerics bit for bit. Running statistics that ranks have of their own are stored for each rank;
///          on another number of ranks all take their mean. Weights that ranks have of their own
///          likewise, with the rule's numbers; the names of `save` have their mean
/// cost     all ranks copy the state to the host; where ranks share parameters, one gather of it;
///          where they have weights of their own, one sum over the ranks for each rank
template <class T> class TrainingTensors {
  using M = typename T::ModelType;
  using C = typename T::communication_type;
  using A = typename M::accumulate;
  using Rule = std::remove_cvref_t<decltype(std::declval<T>().optimizer().rule())>;
  using OwnState = detail::OwnState<T>;
  static_assert(
      has_checkpoints<C>,
      "Checkpoint: this communication policy keeps numbers of its own between steps, "
      "which it cannot store. Write the functions of StoresState for it, or save the weights "
      "alone with save.");

 public:
  /// Collective: every rank calls it. The same on all ranks.
  static TensorFile of(T& trainer) {
    auto const& exec = trainer.exec();
    auto& model = trainer.model();
    Buffers const own = room<Buffers>("buffers", M::nodes.buffer_size);
    Kokkos::deep_copy(exec, own, model.buffers());
    std::vector<double> const own_numbers = OwnState::of(trainer);
    trainer.synchronize();  // unrounded weights of all shares, and mean running statistics
    TensorFile file = to_tensors(exec, model);
    Kokkos::deep_copy(exec, model.buffers(), own);
    add_rule(trainer, file);
    OwnState::add(trainer, own_numbers, file);
    OwnState::set(trainer, own_numbers);
    file.metadata.emplace_back("phyllo.checkpoint", "1");
    file.metadata.emplace_back("phyllo.layers", layers());
    file.metadata.emplace_back("phyllo.precision", type_name<typename M::precision>());
    file.metadata.emplace_back("phyllo.rule", Rule::name);
    file.metadata.emplace_back("phyllo.ranks", std::to_string(trainer.sums().size()));
    add_rank_buffers(trainer, own, file);
    StepState const s = state_of(trainer);
    detail::add_numbers<std::uint64_t>(
        file, counters,
        {s.seed, s.step, s.forward, std::uint64_t(s.finite), std::uint64_t(s.steps_since_overflow),
         s.skipped, s.untold_labels, std::uint64_t(trainer.steps())});
    detail::add_numbers<double>(
        file, factors,
        {double(s.loss_scale), double(s.late_scale), s.gradient_factor, s.gradient_norm,
         s.learning_rate, s.rate, s.of_rule[0], s.of_rule[1], s.of_rule[2], s.of_rule[3]});
    std::vector<double> const of_tensors = trainer.optimizer().missed_steps(trainer.exec());
    if (!of_tensors.empty()) detail::add_numbers<double>(file, missed, of_tensors);
    return file;
  }

  /// Whether the tensors are those of such a trainer; else an Error.
  static void check(T& trainer, TensorFile const& file, std::string const& who) {
    expect(file, "phyllo.checkpoint", "1", who);
    expect(file, "phyllo.rule", Rule::name, who);
    expect(file, "phyllo.precision", type_name<typename M::precision>(), who);
    for (ParameterEntry const& entry : parameter_table<typename M::network>())
      for (int k = 0; k < states && !entry.is_buffer; ++k)
        detail::required(file, rule_name(k) + entry.name, number_type, entry.shape, who);
    if (tensor_numbers(trainer) > 0)
      detail::numbers_of<A>(file, rule_tensors(), tensor_numbers(trainer), who);
    detail::numbers_of<std::uint64_t>(file, counters, 8, who);
    detail::numbers_of<double>(file, factors, 10, who);
    missed_steps(file, who);
    if (has_rank_buffers(trainer, file)) {
      detail::numbers_of<float>(file, rank_buffers(trainer), M::nodes.buffer_size, who);
      if (file.find(samples) != nullptr)
        detail::numbers_of<double>(file, samples, trainer.sums().size(), who);
    }
    OwnState::in(trainer, file, who);
    // Last: another network lacks tensors too, about which the sentences above say more.
    expect(file, "phyllo.layers", layers(), who);
  }

  /// Takes over the state. The trainer may have other ranks than the one that was stored.
  static void restore(T& trainer, TensorFile const& file, std::string const& who) {
    check(trainer, file, who);
    auto const& exec = trainer.exec();
    auto& model = trainer.model();
    TensorFile weights;
    for (ParameterEntry const& entry : parameter_table<typename M::network>())
      if (weights.find(entry.name) == nullptr)
        if (StoredTensor const* const tensor = file.find(entry.name))
          weights.tensors.push_back(*tensor);
    from_tensors(exec, model, weights, who);  // throws before it changes anything
    if (has_rank_buffers(trainer, file)) {
      auto const numbers =
          detail::numbers_of<float>(file, rank_buffers(trainer), M::nodes.buffer_size, who);
      copy_in(exec, model.buffers(), numbers);
    }
    restore_samples(trainer, file, who);
    restore_rule(trainer, file, who);
    auto const c = detail::numbers_of<std::uint64_t>(file, counters, 8, who);
    auto const f = detail::numbers_of<double>(file, factors, 10, who);
    StepState s;
    s.seed = c[0];
    s.step = c[1];
    s.forward = c[2];
    s.finite = int(c[3]);
    s.steps_since_overflow = int(c[4]);
    s.skipped = c[5];
    s.untold_labels = c[6];
    s.loss_scale = float(f[0]);
    s.late_scale = float(f[1]);
    s.gradient_factor = f[2];
    s.gradient_norm = f[3];
    s.learning_rate = f[4];
    s.rate = f[5];
    static_assert(std::size(StepState{}.of_rule) == 4);
    for (std::size_t i = 0; i < 4; ++i) s.of_rule[i] = f[6 + i];
    Kokkos::deep_copy(exec, model.state(), HostState(&s));
    exec.fence("phyllo: checkpoint");
    trainer.optimizer().set_missed_steps(exec, missed_steps(file, who));
    model.weights_changed(exec);  // the next step compares what ranks hold
    trainer.count_steps_from(long(c[7]));
    std::vector<double> const own = OwnState::in(trainer, file, who);
    OwnState::set(trainer, own);
    OwnState::set_missed_steps(trainer, own);
  }

 private:
  static constexpr int states = Rule::states;
  static constexpr long size = M::nodes.arena_size;
  static constexpr ElementType number_type = detail::stored_type<A>();
  static constexpr char const* counters = "phyllo.counters";
  static constexpr char const* factors = "phyllo.factors";
  static constexpr char const* samples = "phyllo.samples";      // that ranks have seen
  static constexpr char const* missed = "phyllo.missed_steps";  // of tensors that were frozen
  using Numbers = typename M::template Vector<A>;
  using Buffers = typename M::template Vector<float>;
  using HostState = Kokkos::View<StepState, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  static std::string layers() { return Agreement::hash(type_name<typename M::network::program>()); }
  static std::string rule_name(int k) {
    return std::string(Rule::name) + "." + std::to_string(k) + ".";
  }
  static std::string rule_tensors() { return std::string(Rule::name) + ".tensors"; }
  static std::string rank_buffers(T& trainer) {
    return "phyllo.buffers.rank" + std::to_string(trainer.sums().rank());
  }
  static bool has_rank_buffers(T& trainer, TensorFile const& file) {
    std::string const* const ranks = file.find_metadata("phyllo.ranks");
    return file.find("phyllo.buffers.rank0") != nullptr && ranks != nullptr &&
           *ranks == std::to_string(trainer.sums().size());
  }
  static void expect(TensorFile const& file, char const* key, std::string const& expected,
                     std::string const& who) {
    std::string const* const got = file.find_metadata(key);
    if (got == nullptr || *got != expected)
      throw Error(who + ": expected a checkpoint of training with " + key + " " + expected +
                  ", got " + (got == nullptr ? "none" : detail::in_quotes(*got)) +
                  ". Resume with the network, rule and precision that wrote it.");
  }
  static constexpr bool counts_samples = requires(T& trainer) { trainer.samples_seen(); };
  // On other ranks all have the same running statistics, which count alike.
  static void restore_samples([[maybe_unused]] T& trainer, [[maybe_unused]] TensorFile const& file,
                              [[maybe_unused]] std::string const& who) {
    if constexpr (counts_samples) {
      bool const known = has_rank_buffers(trainer, file) && file.find(samples) != nullptr;
      long const ranks = trainer.sums().size(), rank = trainer.sums().rank();
      trainer.count_samples_from(
          known ? long(detail::numbers_of<double>(file, samples, ranks, who)[std::size_t(rank)])
                : 0);
    }
  }
  // Of each tensor; none where no tensor has missed a step.
  static std::vector<double> missed_steps(TensorFile const& file, std::string const& who) {
    if (file.find(missed) == nullptr) return {};
    using O = std::remove_cvref_t<decltype(std::declval<T>().optimizer())>;
    return detail::numbers_of<double>(file, missed, O::missed_steps_size, who);
  }
  template <class V> static V room(char const* what, long count) {
    return allocate<V>(std::string("phyllo: checkpoint of ") + what, count,
                       "A checkpoint copies the state of training.", Kokkos::WithoutInitializing);
  }
  template <class Space, class V, class N>
  static void copy_in(Space const& exec, V const& to, std::vector<N> const& from) {
    using Host = Kokkos::View<N const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    if (from.empty()) return;
    Kokkos::deep_copy(exec, to, Host(from.data(), from.size()));
    exec.fence("phyllo: checkpoint");
  }
  template <class Space, class V>
  static std::vector<typename V::value_type> copy_out(Space const& exec, V const& from) {
    std::vector<typename V::value_type> to(from.size());
    using Host = Kokkos::View<typename V::value_type*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    if (to.empty()) return to;
    Kokkos::deep_copy(exec, Host(to.data(), to.size()), from);
    exec.fence("phyllo: checkpoint");
    return to;
  }
  static StepState state_of(T const& trainer) {
    StepState s;
    Kokkos::deep_copy(trainer.exec(), HostState(&s), trainer.model().state());
    trainer.exec().fence("phyllo: checkpoint");
    return s;
  }
  static long tensor_numbers(T const& trainer) {
    auto const [first, last] = trainer.optimizer().share();
    return long(trainer.optimizer().state().size()) - states * (last - first);
  }
  template <class V> static V part(V const& view, long first, long count) {
    return Kokkos::subview(view, std::pair<long, long>(first, first + count));
  }

  // Of every rank, where each has running statistics of its own.
  static void add_rank_buffers(T& trainer, Buffers const& own, TensorFile& file) {
    auto& sums = trainer.sums();
    long const count = M::nodes.buffer_size;
    if (M::has_common_buffers || count == 0 || sums.size() == 1) return;
    auto const& exec = trainer.exec();
    Buffers const all = room<Buffers>("buffers", count * sums.size());
    Kokkos::deep_copy(exec, all, 0.0f);
    Kokkos::deep_copy(exec, part(all, count * sums.rank(), count), own);
    sums.sum(exec, all.data(), count * sums.size());
    auto const numbers = copy_out(exec, all);
    if constexpr (counts_samples) {
      using Samples = typename M::template Vector<double>;
      Samples const seen = room<Samples>("samples of ranks", sums.size());
      Kokkos::deep_copy(exec, seen, 0.0);
      Kokkos::deep_copy(exec, part(seen, sums.rank(), 1), double(trainer.samples_seen()));
      sums.sum(exec, seen.data(), sums.size());
      detail::add_numbers(file, samples, copy_out(exec, seen));
    }
    for (int r = 0; r < sums.size(); ++r)
      detail::add_numbers(
          file, "phyllo.buffers.rank" + std::to_string(r),
          std::vector<float>(numbers.begin() + count * r, numbers.begin() + count * (r + 1)));
  }
  // The rule's numbers of all shares: states runs of all parameters, then those of tensors.
  static std::vector<A> whole_rule(T& trainer) {
    auto const& state = trainer.optimizer().state();
    if constexpr (SharesParameters<C>) {
      auto const& exec = trainer.exec();
      auto const [first, last] = trainer.optimizer().share();
      long const count = last - first, numbers = tensor_numbers(trainer);
      Numbers const all = room<Numbers>("the rule", states * size + numbers);
      for (int k = 0; k < states; ++k) {
        Kokkos::deep_copy(exec, part(all, k * size + first, count), part(state, k * count, count));
        trainer.communication().gather_shares(exec, all.data() + k * size);
      }
      if (numbers > 0)
        Kokkos::deep_copy(exec, part(all, states * size, numbers),
                          part(state, states * count, numbers));
      return copy_out(exec, all);
    } else {
      return copy_out(trainer.exec(), state);
    }
  }
  static void add_rule(T& trainer, TensorFile& file) {
    std::vector<A> const all = whole_rule(trainer);
    for (int k = 0; k < states; ++k)
      for (ParameterEntry const& entry : parameter_table<typename M::network>()) {
        if (entry.is_buffer) continue;
        std::byte* const bytes =
            detail::tensor_of(file, entry, rule_name(k) + entry.name, number_type).bytes.data();
        for (long i = 0; i < entry.size(); ++i)
          std::memcpy(bytes + std::size_t(entry.first + i) * sizeof(A),
                      &all[std::size_t(k * size + entry.arena_index(i))], sizeof(A));
      }
    if (tensor_numbers(trainer) > 0)
      detail::add_numbers(file, rule_tensors(),
                          std::vector<A>(all.begin() + states * size, all.end()));
  }
  static void restore_rule(T& trainer, TensorFile const& file, std::string const& who) {
    auto const [first, last] = trainer.optimizer().share();
    long const count = last - first;
    std::vector<A> own(trainer.optimizer().state().size(), A(0));
    for (int k = 0; k < states; ++k)
      for (ParameterEntry const& entry : parameter_table<typename M::network>()) {
        if (entry.is_buffer) continue;
        std::byte const* const bytes = file.find(rule_name(k) + entry.name)->bytes.data();
        for (long i = 0; i < entry.size(); ++i) {
          long const to = entry.arena_index(i);
          if (to < first || to >= last) continue;
          std::memcpy(&own[std::size_t(k * count + to - first)],
                      bytes + std::size_t(entry.first + i) * sizeof(A), sizeof(A));
        }
      }
    if (long const numbers = tensor_numbers(trainer); numbers > 0) {
      auto const of_tensors = detail::numbers_of<A>(file, rule_tensors(), numbers, who);
      std::copy(of_tensors.begin(), of_tensors.end(), own.end() - numbers);
    }
    copy_in(trainer.exec(), trainer.optimizer().state(), own);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
