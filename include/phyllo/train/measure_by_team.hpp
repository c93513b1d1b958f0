// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/train/optimizer_kernels.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The facts that the optimizer needs about gradients before it uses them.
template <class T> struct GradientMeasure {
  T squares = 0;  // of the mean gradient
  int finite = 1;
};

/// How Kokkos joins the measures of a team's threads.
template <class T> struct GradientMeasureReducer {
  using reducer = GradientMeasureReducer;
  using value_type = GradientMeasure<T>;
  using result_view_type =
      Kokkos::View<value_type, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  PHYLLO_INLINE explicit GradientMeasureReducer(value_type& result) : value_(&result) {}
  PHYLLO_INLINE void join(value_type& to, value_type const& from) const {
    to.squares += from.squares;
    to.finite &= from.finite;
  }
  PHYLLO_INLINE void init(value_type& v) const { v = {T(0), 1}; }
  PHYLLO_INLINE value_type& reference() const { return *value_; }
  PHYLLO_INLINE result_view_type view() const { return result_view_type(value_); }
  PHYLLO_INLINE bool references_scalar() const { return true; }

 private:
  value_type* value_;
};

/// The optimizer's first pass on a device, in one kernel: a team measures a block of the gradient
/// arena, and the team that finishes last joins the blocks and passes the result on.
///
/// options  Finish: AdvanceState, or CollectMeasures where ranks must agree first
/// numerics sums in an order that depends on the team's size, not on the order in which teams
///          finish
/// cost     each gradient is read once
template <class T, class Finish> struct MeasureByTeam {
  static constexpr int team = 256;  // threads

  T const* gradients = nullptr;
  StepState const* state = nullptr;
  T const* tail = nullptr;  // samples of all ranks first
  T* squares = nullptr;     // (blocks)
  int* finite = nullptr;    // (blocks)
  int* finished = nullptr;  // teams; zero before and after the kernel
  long size = 0;
  long block = 0;
  Finish finish;

  template <class Member> KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const b = member.league_rank();
    measure(member, b);
    int is_last = 0;
    Kokkos::single(
        Kokkos::PerTeam(member),
        [&](int& last) {
          Kokkos::memory_fence();  // the block's measure before the count that says so
          last = Kokkos::atomic_fetch_add(finished, 1) == finish.blocks - 1;
        },
        is_last);
    if (!is_last) return;
    Kokkos::memory_fence();
    GradientMeasure<T> all;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(member, finish.blocks),
        [&](int k, GradientMeasure<T>& m) {
          // Past this multiprocessor's own cache, to where the other teams have written.
          m.squares += Kokkos::atomic_load(squares + k);
          m.finite &= Kokkos::atomic_load(finite + k);
        },
        GradientMeasureReducer<T>(all));
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      finish.take(all.squares, all.finite);
      *finished = 0;
    });
  }

 private:
  template <class Member> KOKKOS_FUNCTION void measure(Member const& member, int b) const {
    T const factor = mean_factor(*state, tail[0]);
    long const first = long(b) * block;
    int const count = int(first + block < size ? block : size - first);
    GradientMeasure<T> measure;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(member, count),
        [&](int i, GradientMeasure<T>& m) {
          T const g = gradients[first + i], mean = g * factor;
          m.squares += mean * mean;
          m.finite &= Kokkos::isfinite(g) ? 1 : 0;
        },
        GradientMeasureReducer<T>(measure));
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      squares[b] = measure.squares;
      finite[b] = measure.finite;
    });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
