// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/train/trainer.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// A checkpoint of a trainer in memory, from which training continues after a rank has failed.
/// Ranks take it after the same steps. A rank may die before the others have done so, therefore the
/// last two are kept, and `restore` uses the newest that all ranks have.
///
/// options  T: a Trainer
/// state    two copies of parameters, master parameters, buffers, the rule's numbers and StepState;
///          where ranks share them, of all shares, since that of a rank would be lost with it
/// threads  as Trainer
/// errors   run: restoring what was never taken on all ranks -> Error on all; no room in memory ->
///          Error; where ranks share parameters, those of the transport
/// numerics restored bit for bit, without the internal state of a communication policy
/// cost     one copy of the state for each checkpoint, asynchronous on the trainer's instance;
///          where ranks share parameters, all shares are sent to all ranks
template <class T> class MemoryCheckpoint {
  using Model = typename T::ModelType;
  static constexpr bool shares = SharesParameters<typename T::communication_type>;
  static constexpr long size = Model::nodes.arena_size;
  using accumulate = typename Model::accumulate;
  static constexpr int states =
      std::remove_cvref_t<decltype(std::declval<T>().optimizer().rule())>::states;
  using memory_space = typename Model::memory_space;

 public:
  explicit MemoryCheckpoint(T const& trainer) : copies_{Copy(trainer), Copy(trainer)} {}

  /// The state after the step that the trainer has just made.
  void store(T& trainer) {
    Copy& copy = copies_[std::size_t(taken_ % 2)];
    copy.steps = trainer.steps();
    copy.exchange(trainer, true);
    copy.missed_steps = trainer.optimizer().missed_steps(trainer.exec());
    if constexpr (requires { trainer.samples_seen(); }) copy.samples = trainer.samples_seen();
    if constexpr (shares) copy.gather(trainer);
    ++taken_;  // last: a rank that has died meanwhile takes this one with it
  }

  /// Restores a trainer of the same type to the newest checkpoint that all ranks have; all ranks
  /// call it. It may be another trainer than the one that was saved, on fewer ranks.
  ///
  /// errors   run: accumulated micro-batches -> Error
  void restore(T& trainer) {
    detail::refuse_accumulated(trainer, "MemoryCheckpoint::restore");
    bool const all_have_it = !is_ahead(trainer);
    long const age = all_have_it ? 1 : 2;
    if (taken_ < age)
      throw Error(trainer.model().name() +
                  ": expected a checkpoint that all ranks have stored, got none. Call "
                  "MemoryCheckpoint::store after "
                  "a step, on every rank.");
    taken_ -= age - 1;
    Copy const& copy = copies_[std::size_t((taken_ - 1) % 2)];
    copy.exchange(trainer, false);
    trainer.optimizer().set_missed_steps(trainer.exec(), copy.missed_steps);
    if constexpr (requires { trainer.samples_seen(); }) trainer.count_samples_from(copy.samples);
    trainer.count_steps_from(copy.steps);
    trainer.model().forget_forward();
    // What a policy keeps between steps is of steps that are undone.
    if constexpr (StoresState<typename T::communication_type>)
      trainer.communication().set_own_state(trainer.exec(), trainer.trained(), {});
  }

  /// Steps of the trainer at the last commit.
  long steps() const { return taken_ == 0 ? 0 : copies_[std::size_t((taken_ - 1) % 2)].steps; }

 private:
  struct Copy {
    typename Model::template Vector<typename Model::storage> parameters;
    typename Model::template Vector<accumulate> master, rule;
    typename Model::template Vector<float> buffers;
    Kokkos::View<StepState, memory_space> state;
    std::vector<double> missed_steps;  // of tensors that were frozen
    long steps = 0, samples = 0;

    explicit Copy(T const& trainer)
        : parameters(like(trainer.model().parameters())),
          master(like(trainer.model().master())),
          rule(room<decltype(rule)>(trainer.optimizer().state().label(),
                                    states * size + tensor_numbers(trainer))),
          buffers(like(trainer.model().buffers())),
          state(room<decltype(state)>(trainer.model().state().label(), 1)) {}

    template <class V> static V like(V const& view) {
      return room<V>(view.label(), long(view.extent(0)));
    }
    template <class V> static V room(std::string const& of, long count) {
      return allocate<V>("phyllo: commit of " + of, count,
                         "A commit keeps the state of training twice: train without one.",
                         Kokkos::WithoutInitializing);
    }
    // Behind the rule's numbers of this rank's parameters; the same on all ranks.
    static long tensor_numbers(T const& trainer) {
      auto const share = trainer.optimizer().share();
      return long(trainer.optimizer().state().size()) - states * (share.second - share.first);
    }
    void exchange(T const& trainer, bool take) const {
      auto const& model = trainer.model();
      copy(trainer, parameters, model.parameters(), take);
      copy(trainer, master, model.master(), take);
      auto const [first, last] = trainer.optimizer().share();
      long const count = last - first;
      for (int s = 0; s < states; ++s)
        copy(trainer, part(rule, s * size + first, count),
             part(trainer.optimizer().state(), s * count, count), take);
      if (long const numbers = tensor_numbers(trainer); numbers > 0)
        copy(trainer, part(rule, states * size, numbers),
             part(trainer.optimizer().state(), states * count, numbers), take);
      copy(trainer, buffers, model.buffers(), take);
      copy(trainer, state, model.state(), take);
    }
    // Master parameters and the rule's numbers of the other ranks' shares.
    void gather(T& trainer) const {
      for (int s = 0; s < states; ++s)
        trainer.communication().gather_shares(trainer.exec(), rule.data() + s * size);
      trainer.communication().gather_shares(trainer.exec(), master.data());
    }
    template <class V> static V part(V const& view, long first, long count) {
      return Kokkos::subview(view, std::pair<long, long>(first, first + count));
    }
    template <class V> static void copy(T const& trainer, V const& kept, V const& live, bool take) {
      Kokkos::deep_copy(trainer.exec(), take ? kept : live, take ? live : kept);
    }
  };

  // Whether other ranks lack this rank's last commit. Ranks are at most one commit apart, since
  // each follows a step that all have begun: counted modulo 3, the newer is the successor of the
  // older.
  bool is_ahead(T& trainer) const {
    Kokkos::View<double[3], Kokkos::HostSpace> const host("phyllo: commits of ranks");
    host(taken_ % 3) = 1;
    auto const ranks = Kokkos::create_mirror_view(memory_space{}, host);
    Kokkos::deep_copy(trainer.exec(), ranks, host);
    trainer.sums().sum(trainer.exec(), ranks.data(), 3);
    Kokkos::deep_copy(trainer.exec(), host, ranks);
    trainer.exec().fence("phyllo: commits of ranks");
    return host((taken_ + 2) % 3) > 0;
  }

  std::array<Copy, 2> copies_;
  long taken_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
