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

/// Lanes of a thread of teams that do not hold the weights.
template <class Member>
inline constexpr int scan_lanes = is_processor<typename Member::execution_space> ? 1 : 32;

/// Whether a team is one thread, which computes what a device's threads do in turns.
template <class Member>
inline constexpr bool alone = is_processor<typename Member::execution_space>;

/// How a device shares a scan. Where the registers of a team have room for all weights, each thread
/// keeps a column of them in the forward pass, and one gate of a row in the backward pass, over all
/// times; else they are read from memory at each time.
///
/// source   Diamos et al., "Persistent RNNs", ICML 2016
template <class Cell, int Hidden, class P> struct ScanTeam {
  using A = typename P::accumulate;
  static constexpr int products = Cell::gates * Hidden;
  // Of a thread's 255; about 56 are for other numbers.
  static constexpr int registers = Hidden * int(sizeof(A)) / 4 + 56;
  static constexpr bool holds_weights =
      products <= 1024 && registers <= 224 && products * registers <= 65536;
  // Of a team that does not hold them: all threads run, whatever registers they take.
  static constexpr int warps = products / 32 < 1 ? 1 : products / 32 > 8 ? 8 : products / 32;
};

/// Those weights: H numbers of the thread's number in the team.
template <int Hidden, class A> struct HeldWeights {
  A value[Hidden];

  template <class S> PHYLLO_INLINE void take(S const* from, long stride) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < Hidden; ++m) value[m] = A(from[m * stride]);
  }
  /// sum over m of x[m] weight[m], in rising order, after `sum`. x: in scratch memory, whose
  /// numbers are read 16 bytes at a time where rows of Hidden allow it.
  PHYLLO_INLINE A add_product(A sum, A const* x) const {
    constexpr int chunk = Hidden * sizeof(A) % 16 == 0 ? 16 / int(sizeof(A)) : 1;
    struct alignas(chunk * sizeof(A)) Chunk {
      A value[chunk];
    };
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < Hidden; m += chunk) {
      Chunk const some = *reinterpret_cast<Chunk const*>(x + m);
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < chunk; ++i) sum += some.value[i] * value[m + i];
    }
    return sum;
  }
};

/// One team: a few samples, all times. The states are in scratch memory, and the sums of all gates,
/// which threads share by columns; the units of all samples then go on from these.
///
/// errors   run: more scratch memory than a device has, from some thousand units on: Kokkos' error
template <class Cell, int Hidden, class P, int Samples, bool Held> struct scan_forward {
  using Op = op::Scan<Cell, Hidden>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states, products = G * H;
  static constexpr long scratch_bytes = (1L * states + G) * Samples * H * long(sizeof(A));

  typename Op::template Forward<P> work;

  template <class Member> PHYLLO_FUNCTION void operator()(Member const& member) const {
    int const first = int(member.league_rank()) * Samples;
    A* const state =
        static_cast<A*>(member.team_shmem().get_shmem_aligned(long(scratch_bytes), 16));
    A* const sums = state + states * Samples * H;  // (Samples, G, H)
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, states * Samples * H), [&](int i) {
      state[i] = initial(i / (Samples * H), first + i / H % Samples, i % H);
    });
    [[maybe_unused]] HeldWeights<H, A> weights;
    if constexpr (Held) take_weights(member.team_rank(), weights);
    for (int step = 0; step < work.times; ++step) {
      member.team_barrier();
      if constexpr (Held) {
        for (int j = member.team_rank(); j < products; j += member.team_size()) {
          if constexpr (alone<Member>) take_weights(j, weights);
          for (int b = 0; b < Samples; ++b)
            sums[b * products + j] = weights.add_product(bias(j), state + b * H);
        }
      } else {
        Kokkos::parallel_for(Kokkos::TeamVectorRange(member, int(products)),
                             [&](int j) { column(j, state, sums); });
      }
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, Samples * H), [&](int i) {
        if (first + i / H < work.batch)
          update(first + i / H, step, i % H, sums + i / H * products + i % H, state + i);
      });
    }
  }

  /// Column j.
  PHYLLO_INLINE void take_weights(int j, HeldWeights<H, A>& to) const {
    to.take(work.weight + j, products);
  }

 private:
  PHYLLO_FUNCTION A initial(int s, int n, int u) const {
    return n < work.batch && work.initial[s].x != nullptr ? A(work.initial[s].row(n)[u]) : A(0);
  }
  PHYLLO_FUNCTION A bias(int j) const { return work.bias != nullptr ? A(work.bias[j]) : A(0); }
  PHYLLO_FUNCTION void column(int j, A const* h, A* sums) const {
    A sum[Samples];
    for (int b = 0; b < Samples; ++b) sum[b] = bias(j);
    for (int k = 0; k < H; ++k) {
      A const w = A(work.weight[long(k) * products + j]);
      for (int b = 0; b < Samples; ++b) sum[b] += h[b * H + k] * w;
    }
    for (int b = 0; b < Samples; ++b) sums[b * products + j] = sum[b];
  }
  // sum: of the gates, H apart; place: of h, the other states Samples H apart.
  PHYLLO_FUNCTION void update(int n, int step, int u, A const* sum, A* place) const {
    int const length = work.length(n);
    bool const reached = work.reaches(length, step), valid = work.is_valid(length);
    long const row = work.row(n, step);
    A state[states], keep[Cell::kept] = {};
    for (int s = 0; s < states; ++s) state[s] = place[s * Samples * H];
    if (work.keep != nullptr) {
      work.h_before[row * H + u] = S(reached ? state[0] : A(0));
      for (int s = 1; s < states; ++s)
        work.before[(row * (states - 1) + s - 1) * H + u] = reached ? state[s] : A(0);
    }
    if (reached) {
      A x[G], r[G];
      for (int g = 0; g < G; ++g) {
        x[g] = A(work.x[(row * G + g) * H + u]);
        r[g] = sum[g * H];
      }
      Cell::activate(x, r, keep);
      Cell::advance(state, keep);
      state[0] = A(S(state[0]));
    }
    for (int s = 0; s < states; ++s) place[s * Samples * H] = state[s];
    S const none = S(Kokkos::Experimental::quiet_NaN_v<float>);
    S* const y = work.y + row * work.y_channels() + u;
    y[0] = valid ? S(reached ? state[0] : A(0)) : none;
    for (int s = work.carried_from; s < states; ++s)
      y[(1 + s - work.carried_from) * H] = valid ? S(state[s]) : none;
    if (work.keep != nullptr) PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < Cell::kept; ++i)
      *scan_kept<Op>(work.keep, work.keep_more, row, i, u) = S(keep[i]);
  }
};

/// The same backwards: the gradients of the states are in scratch memory, beside those of all sums
/// of a time. Where weights are held, what the gates of a row give is left there too, and added at
/// the next time.
template <class Cell, int Hidden, class P, int Samples, bool Held> struct scan_backward {
  using Op = op::Scan<Cell, Hidden>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states, products = G * H;
  static constexpr long scratch_bytes =
      (1L * states + (Held ? 2 : 1) * G) * Samples * H * long(sizeof(A));

  typename Op::template Backward<P> work;

  template <class Member> PHYLLO_FUNCTION void operator()(Member const& member) const {
    int const first = int(member.league_rank()) * Samples;
    A* const d_state =
        static_cast<A*>(member.team_shmem().get_shmem_aligned(long(scratch_bytes), 16));
    A* const d_r = d_state + states * Samples * H;  // (Samples, G, H)
    A* const of_gates = d_r + Samples * products;   // (G, Samples, H), where weights are held
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, states * Samples * H),
                         [&](int i) { d_state[i] = A(0); });
    [[maybe_unused]] HeldWeights<H, A> weights;
    if constexpr (Held) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, int(Samples * products)),
                           [&](int i) { of_gates[i] = A(0); });
      take_weights(member.team_rank(), weights);
    }
    for (int step = work.times - 1; step >= 0; --step) {
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, Samples * H), [&](int i) {
        add_gates(i, of_gates, d_state);
        if (first + i / H < work.batch)
          unit(first + i / H, step, i % H, d_state + i, d_r + i / H * products + i % H);
        else
          for (int g = 0; g < G; ++g) d_r[i / H * products + g * H + i % H] = A(0);
      });
      member.team_barrier();
      if constexpr (Held) {
        for (int j = member.team_rank(); j < products; j += member.team_size()) {
          if constexpr (alone<Member>) take_weights(j, weights);
          for (int b = 0; b < Samples; ++b)
            of_gates[(j / H * Samples + b) * H + j % H] =
                weights.add_product(A(0), d_r + b * products + j / H * H);
        }
      } else {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(member, int(H)),
                             [&](int k) { add_row(member, k, d_r, d_state); });
      }
    }
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, Samples * H),
                         [&](int i) { add_gates(i, of_gates, d_state); });
    member.team_barrier();
    for (int s = 0; s < states; ++s)
      if (work.d_initial[s].x != nullptr) finish(member, s, first, d_state + s * Samples * H);
  }

  /// Of row j % H those of gate j / H.
  PHYLLO_INLINE void take_weights(int j, HeldWeights<H, A>& to) const {
    to.take(work.weight + long(j % H) * products + j / H * H, 1);
  }

 private:
  PHYLLO_FUNCTION static void add_gates(int i, A const* of_gates, A* d_state) {
    if constexpr (Held)
      for (int g = 0; g < G; ++g) d_state[i] += of_gates[g * Samples * H + i];
  }
  // Row k of the weights by the lanes of a thread, once for all samples.
  template <class Member>
  PHYLLO_FUNCTION void add_row(Member const& member, int k, A const* d_r, A* d_state) const {
    A part[Samples] = {};  // of each lane
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, int(products)), [&](int i) {
      A const w = A(work.weight[long(k) * products + i]);
      for (int b = 0; b < Samples; ++b) part[b] += d_r[b * products + i] * w;
    });
    for (int b = 0; b < Samples; ++b) {
      A sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, int(scan_lanes<Member>)),
          [&](int, A& all) { all += part[b]; }, sum);
      Kokkos::single(Kokkos::PerThread(member), [&] { d_state[b * H + k] += sum; });
    }
  }
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
      PHYLLO_UNROLL_ON_DEVICE
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
  using Team = ScanTeam<Cell, Hidden, P>;
  // As many as leave room for other teams of a device; two need no more reads of weights than four
  // where these are held.
  static constexpr int samples =
      scan_backward<Cell, Hidden, P, 4, false>::scratch_bytes <= 24 * 1024 ? 4 : 1;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    if constexpr (!is_processor<Space> && Team::holds_weights)
      launch_scan<true>(exec, label, scan_forward<Cell, Hidden, P, 2, true>{work}, 2);
    else
      launch_scan<false>(exec, label, scan_forward<Cell, Hidden, P, samples, false>{work}, samples);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    if constexpr (!is_processor<Space> && Team::holds_weights)
      launch_scan<true>(exec, label, scan_backward<Cell, Hidden, P, 2, true>{work}, 2);
    else
      launch_scan<false>(exec, label, scan_backward<Cell, Hidden, P, samples, false>{work},
                         samples);
  }

  /// Held: a thread for each column of the weights, with so few registers that all of them run.
  template <bool Held, class Space, class Functor>
  static void launch_scan(Space const& exec, std::string const& label, Functor const& functor,
                          int samples_of_team) {
    static_assert(sizeof(Functor) <= 512, "portable: a functor must be smaller than 512 bytes.");
    if (functor.work.batch == 0) return;
    constexpr int lanes = Held ? 1 : scan_lanes<typename Kokkos::TeamPolicy<Space>::member_type>;
    constexpr int threads = is_processor<Space> ? 1 : Held ? Team::products : Team::warps;
    using Bounds = Kokkos::LaunchBounds<Held ? unsigned(Team::products) : 0>;
    auto policy = team_policy<Space, Bounds>(
        exec, int(blocks_of(functor.work.batch, samples_of_team)), threads, lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Functor::scratch_bytes + 16));
    Kokkos::parallel_for(launch_label(label), policy, functor);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
