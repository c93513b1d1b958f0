// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/scan.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Number i that a cell keeps of unit u.
template <class Op, class Number>
PHYLLO_INLINE Number* scan_kept(Number* keep, Number* more, long row, int i, int u) {
  return i < Op::gates ? keep + (row * Op::gates + i) * Op::hidden + u
                       : more + (row * Op::more_kept + i - Op::gates) * Op::hidden + u;
}

/// One team: a few samples, all times. The states are in scratch memory, twice for h, which all
/// units read while the next ones are written; weights are read once for all samples of a team.
///
/// errors   run: more scratch memory than a device has, from some thousand units on: Kokkos' error
template <class Cell, int Hidden, class P, int Samples> struct scan_forward {
  using Op = op::Scan<Cell, Hidden>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states;
  static constexpr long scratch_bytes = (1L + states) * Samples * H * long(sizeof(A));

  typename Op::template Forward<P> work;

  template <class Member> PHYLLO_FUNCTION void operator()(Member const& member) const {
    int const first = int(member.league_rank()) * Samples;
    A* const room = static_cast<A*>(member.team_shmem().get_shmem(long(scratch_bytes)));
    A* const others = room + 2 * Samples * H;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, Samples * H), [&](int i) {
      int const n = first + i / H;
      room[i] = initial(0, n, i % H);
      for (int s = 1; s < states; ++s) others[(s - 1) * Samples * H + i] = initial(s, n, i % H);
    });
    for (int step = 0; step < work.times; ++step) {
      member.team_barrier();
      A const* const h = room + step % 2 * Samples * H;
      A* const next = room + (step + 1) % 2 * Samples * H;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, int(H)),
                           [&](int u) { unit(first, step, u, h, next, others); });
    }
  }

 private:
  PHYLLO_FUNCTION A initial(int s, int n, int u) const {
    return n < work.batch && work.initial[s].x != nullptr ? A(work.initial[s].row(n)[u]) : A(0);
  }
  PHYLLO_FUNCTION void unit(int first, int step, int u, A const* h, A* next, A* others) const {
    A sum[Samples][G];
    for (int g = 0; g < G; ++g) {
      A const bias = work.bias != nullptr ? A(work.bias[g * H + u]) : A(0);
      for (int b = 0; b < Samples; ++b) sum[b][g] = bias;
    }
    for (int k = 0; k < H; ++k)
      for (int g = 0; g < G; ++g) {
        A const w = A(work.weight[(long(k) * G + g) * H + u]);
        for (int b = 0; b < Samples; ++b) sum[b][g] += h[b * H + k] * w;
      }
    for (int b = 0; b < Samples; ++b)
      if (first + b < work.batch)
        update(first + b, step, u, sum[b], h[b * H + u], next[b * H + u], others + b * H + u);
  }
  PHYLLO_FUNCTION void update(int n, int step, int u, A const (&r)[G], A h, A& next,
                              A* other) const {
    int const length = work.length(n);
    bool const reached = work.reaches(length, step), valid = work.is_valid(length);
    long const row = work.row(n, step);
    A state[states], keep[Cell::kept] = {};
    state[0] = h;
    for (int s = 1; s < states; ++s) state[s] = other[(s - 1) * Samples * H];
    if (work.keep != nullptr) {
      work.h_before[row * H + u] = S(reached ? h : A(0));
      for (int s = 1; s < states; ++s)
        work.before[(row * (states - 1) + s - 1) * H + u] = reached ? state[s] : A(0);
    }
    if (reached) {
      A x[G];
      for (int g = 0; g < G; ++g) x[g] = A(work.x[(row * G + g) * H + u]);
      Cell::activate(x, r, keep);
      Cell::advance(state, keep);
      state[0] = A(S(state[0]));
    }
    next = state[0];
    for (int s = 1; s < states; ++s) other[(s - 1) * Samples * H] = state[s];
    S const none = S(Kokkos::Experimental::quiet_NaN_v<float>);
    S* const y = work.y + row * work.y_channels() + u;
    y[0] = valid ? S(reached ? state[0] : A(0)) : none;
    for (int s = work.carried_from; s < states; ++s)
      y[(1 + s - work.carried_from) * H] = valid ? S(state[s]) : none;
    if (work.keep != nullptr)
      for (int i = 0; i < Cell::kept; ++i)
        *scan_kept<Op>(work.keep, work.keep_more, row, i, u) = S(keep[i]);
  }
};

/// The same backwards: the gradients of the states are in scratch memory, beside those of all sums
/// of a time.
template <class Cell, int Hidden, class P, int Samples> struct scan_backward {
  using Op = op::Scan<Cell, Hidden>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states;
  static constexpr long scratch_bytes = (1L * states + G) * Samples * H * long(sizeof(A));

  typename Op::template Backward<P> work;

  template <class Member> PHYLLO_FUNCTION void operator()(Member const& member) const {
    int const first = int(member.league_rank()) * Samples;
    A* const d_state = static_cast<A*>(member.team_shmem().get_shmem(long(scratch_bytes)));
    A* const d_r = d_state + states * Samples * H;  // (Samples, G, H)
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, states * Samples * H),
                         [&](int i) { d_state[i] = A(0); });
    for (int step = work.times - 1; step >= 0; --step) {
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, Samples * H), [&](int i) {
        if (first + i / H < work.batch)
          unit(first + i / H, step, i % H, d_state + i, d_r + i / H * G * H + i % H);
        else
          for (int g = 0; g < G; ++g) d_r[(i / H * G + g) * H + i % H] = A(0);
      });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int(H)), [&](int k) {
        for (int b = 0; b < Samples; ++b) {
          A sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(member, G * H),
              [&](int i, A& part) {
                part += d_r[b * G * H + i] * A(work.weight[long(k) * G * H + i]);
              },
              sum);
          Kokkos::single(Kokkos::PerThread(member), [&] { d_state[b * H + k] += sum; });
        }
      });
    }
    member.team_barrier();
    for (int s = 0; s < states; ++s)
      if (work.d_initial[s].x != nullptr) finish(member, s, first, d_state + s * Samples * H);
  }

 private:
  // d: of h; those of the other states are Samples H apart.
  PHYLLO_FUNCTION void unit(int n, int step, int u, A* d, A* d_r) const {
    int const length = work.length(n);
    bool const valid = work.is_valid(length), reached = work.reaches(length, step);
    long const row = work.row(n, step);
    A d_x[G] = {}, d_sum[G] = {}, d_state[states];
    for (int s = 0; s < states; ++s) d_state[s] = d[s * Samples * H];
    S const* const d_y = work.d_y + row * work.y_channels() + u;
    for (int s = work.carried_from; s < states && valid; ++s)
      d_state[s] += A(d_y[(1 + s - work.carried_from) * H]);
    if (reached) {
      d_state[0] += A(d_y[0]);
      A keep[Cell::kept], before[states];
      for (int i = 0; i < Cell::kept; ++i)
        keep[i] = A(*scan_kept<Op, S const>(work.d_x, work.keep_more, row, i, u));
      before[0] = A(work.h_before[row * H + u]);
      for (int s = 1; s < states; ++s)
        before[s] = work.before[(row * (states - 1) + s - 1) * H + u];
      Cell::backward(keep, before, d_state, d_x, d_sum);
    }
    for (int s = 0; s < states; ++s) d[s * Samples * H] = d_state[s];
    for (int g = 0; g < G; ++g) {
      long const at = (row * G + g) * H + u;
      work.d_x[at] = S(d_x[g]);
      d_r[g * H] = Cell::splits_gradient ? d_sum[g] : d_x[g];
      if (Cell::splits_gradient) work.d_r[at] = S(d_sum[g]);
    }
  }
  template <class Member>
  PHYLLO_FUNCTION void finish(Member const& member, int s, int first, A const* d) const {
    op::ScanState<S> const& initial = work.d_initial[s];
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, Samples * initial.channels), [&](int i) {
      int const n = first + i / initial.channels, u = i % initial.channels - initial.from;
      if (n >= work.batch) return;
      S& to = initial.row(n)[u];
      A const more = u >= 0 && u < H ? d[i / initial.channels * H + u] : A(0);
      to = S(initial.accumulate ? A(to) + more : more);
    });
  }
};

template <class Cell, int Hidden, class P> struct Kernels<op::Scan<Cell, Hidden>, P> {
  using Op = op::Scan<Cell, Hidden>;
  // As many as leave room for other teams of a device.
  static constexpr int samples =
      scan_backward<Cell, Hidden, P, 4>::scratch_bytes <= 24 * 1024 ? 4 : 1;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    launch_scan(exec, label, scan_forward<Cell, Hidden, P, samples>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    launch_scan(exec, label, scan_backward<Cell, Hidden, P, samples>{work});
  }

 private:
  template <class Space, class Functor>
  static void launch_scan(Space const& exec, std::string const& label, Functor const& functor) {
    static_assert(sizeof(Functor) <= 512, "portable: a functor must be smaller than 512 bytes.");
    if (functor.work.batch == 0) return;
    constexpr int lanes = is_processor<Space> ? 1 : 32;
    constexpr int warps = Hidden / 32 < 1 ? 1 : Hidden / 32 > 16 ? 16 : Hidden / 32;
    auto policy = team_policy(exec, int(blocks_of(functor.work.batch, samples)),
                              is_processor<Space> ? 1 : warps, lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Functor::scratch_bytes));
    Kokkos::parallel_for(launch_label(label), policy, functor);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
