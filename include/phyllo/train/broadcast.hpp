// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/policy/trained_state.hpp>
#include <phyllo/train/compare_ranks.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// What training has learned as one run of numbers: weights, the optimizer's state, buffers.
template <class A, class S> struct TrainedNumbers {
  A* master = nullptr;
  S* parameters = nullptr;
  A* rule_state = nullptr;
  float* buffers = nullptr;
  float* buffers_before = nullptr;
  long size = 0, rule_size = 0, buffer_size = 0;

  PHYLLO_INLINE long count() const { return size + rule_size + buffer_size; }
  PHYLLO_INLINE A read(long i) const {
    if (i < size) return current_weight(master[i], parameters[i]);
    i -= size;
    return i < rule_size ? rule_state[i] : A(buffers[i - rule_size]);
  }
  PHYLLO_INLINE void write(long i, A value) const {
    if (i < size) {
      master[i] = value;
      if constexpr (!std::is_same_v<A, S>) parameters[i] = S(value);
      return;
    }
    i -= size;
    if (i < rule_size) {
      rule_state[i] = value;
    } else {
      buffers[i - rule_size] = float(value);
      buffers_before[i - rule_size] = float(value);
    }
  }
};

template <class A, class S> struct PackNumbers {
  TrainedNumbers<A, S> numbers;
  A* packed = nullptr;       // (count)
  A const* owned = nullptr;  // (size) by the ranks whose shares they are; nullptr: all are here
  KOKKOS_FUNCTION void operator()(long i) const {
    packed[i] = owned != nullptr && i < numbers.size ? owned[i] : numbers.read(i);
  }
};
template <class A, class S> struct UnpackNumbers {
  TrainedNumbers<A, S> numbers;
  A const* packed = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const { numbers.write(i, packed[i]); }
};

namespace detail {

/// Sums of micro-batches are in no file, and of the weights that they were computed with.
template <class T> void refuse_accumulated(T const& trainer, char const* who) {
  if (trainer.accumulated() > 0)
    throw Error(std::string(who) + ": expected a trainer between two steps, got one with " +
                std::to_string(trainer.accumulated()) +
                " accumulated micro-batches, which no checkpoint and no broadcast contains. Call "
                "step first.");
}

/// Numbers of `root` in host memory.
template <class Space, class C>
void broadcast_numbers(Space const& exec, C& sums, int root, double* numbers, std::size_t count) {
  Kokkos::View<double*, Kokkos::HostSpace> const host("phyllo: broadcast", count);
  for (std::size_t i = 0; i < count; ++i) host(i) = sums.rank() == root ? numbers[i] : 0;
  auto const data = Kokkos::create_mirror_view(typename Space::memory_space{}, host);
  Kokkos::deep_copy(exec, data, host);
  sums.sum(exec, data.data(), long(count));
  Kokkos::deep_copy(exec, host, data);
  exec.fence("phyllo: broadcast");
  for (std::size_t i = 0; i < count; ++i) numbers[i] = host(i);
}

/// StepState of `root`, byte by byte as doubles; each rank keeps its place in the global batch.
template <class M, class C>
void broadcast_state(typename M::space const& exec, M& model, C& sums, int root) {
  using State = Kokkos::View<StepState, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  StepState state;
  Kokkos::deep_copy(exec, State(&state), model.state());
  exec.fence("phyllo: broadcast");
  unsigned char bytes[sizeof state];
  double numbers[sizeof state];
  std::memcpy(bytes, &state, sizeof state);
  for (std::size_t i = 0; i < sizeof state; ++i) numbers[i] = double(bytes[i]);
  broadcast_numbers(exec, sums, root, numbers, sizeof state);
  for (std::size_t i = 0; i < sizeof state; ++i) bytes[i] = static_cast<unsigned char>(numbers[i]);
  auto const first_sample = state.first_sample;
  std::memcpy(&state, bytes, sizeof state);
  state.first_sample = first_sample;
  Kokkos::deep_copy(exec, model.state(), State(&state));
  exec.fence("phyllo: broadcast");
}

/// The steps that tensors of `root` have missed while they were frozen.
template <class Space, class O, class C>
void broadcast_missed_steps(Space const& exec, O& optimizer, C& sums, int root) {
  if (O::missed_steps_size == 0) return;
  auto numbers = optimizer.missed_steps(exec);
  numbers.resize(std::size_t(O::missed_steps_size), 0.0);
  broadcast_numbers(exec, sums, root, numbers.data(), numbers.size());
  optimizer.set_missed_steps(exec, numbers);
}

}  // namespace detail

/// All ranks take over weights, running statistics, the optimizer's state, the step state and the
/// missed steps of frozen tensors of rank `root`; groups and the choice of frozen tensors they
/// keep. Collective; allocates. `drain()` is called once root's numbers are kept.
///
/// options  Policy: the communication policy · C: it, or its transport, which adds zeros of the
///          other ranks
/// errors   run: no such rank; no room in memory -> Error
/// numerics the bits of root, but that -0 becomes 0; where ranks share parameters, each keeps its
///          share of the optimizer's state
template <class Policy, class M, class O, class C, class Drain>
void broadcast_training(typename M::space const& exec, M& model, O& optimizer, C& sums, int root,
                        Drain const& drain) {
  using A = typename M::accumulate;
  if (root < 0 || root >= sums.size())
    throw Error(model.name() + ": broadcast: expected a rank from 0 to " +
                std::to_string(sums.size() - 1) + ", got " + std::to_string(root) + ".");
  if (sums.size() == 1) return;
  long const rule_size = SharesParameters<Policy> ? 0 : long(optimizer.state().size());
  TrainedNumbers<A, typename M::storage> const numbers{model.master().data(),
                                                       model.parameters().data(),
                                                       optimizer.state().data(),
                                                       model.buffers().data(),
                                                       model.buffers_before().data(),
                                                       long(model.master().size()),
                                                       rule_size,
                                                       long(model.buffers().size())};
  using All = typename M::template Vector<A>;
  All const all = allocate<All>(model.name() + "/broadcast", numbers.count(),
                                "A broadcast needs as much room as the state of training.", exec);
  // Where ranks share parameters, each has only its own share unrounded, unless root has loaded
  // all.
  All owned;
  if constexpr (SharesParameters<Policy> && !std::is_same_v<A, typename M::storage>) {
    owned = allocate<All>(model.name() + "/broadcast, shares", numbers.size,
                          "A broadcast needs as much room as the state of training.", exec);
    Kokkos::deep_copy(exec, owned, model.master());
    sums.gather_shares(exec, owned.data());
  }
  using Range = Kokkos::RangePolicy<typename M::space, Kokkos::IndexType<long>>;
  if (sums.rank() == root)
    Kokkos::parallel_for(
        "phyllo: broadcast", Range(exec, 0, numbers.count()),
        PackNumbers<A, typename M::storage>{numbers, all.data(),
                                            model.has_changed_weights() ? nullptr : owned.data()});
  drain();
  sums.sum(exec, all.data(), numbers.count());
  Kokkos::parallel_for("phyllo: broadcast", Range(exec, 0, numbers.count()),
                       UnpackNumbers<A, typename M::storage>{numbers, all.data()});
  detail::broadcast_state(exec, model, sums, root);
  detail::broadcast_missed_steps(exec, optimizer, sums, root);
  model.forget_forward();
  // Each rank keeps its groups and frozen tensors: the next step refuses those that differ.
  if (detail::choose_otherwise(exec, optimizer, sums))
    model.compare_in_next_step();
  else
    model.note_comparison();
}

}  // namespace phyllo::inline PHYLLO_ISA
