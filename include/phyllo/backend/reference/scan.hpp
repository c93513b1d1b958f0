// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/scan.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class Cell, int Hidden, class P> struct Kernels<op::Scan<Cell, Hidden>, P> {
  using Op = op::Scan<Cell, Hidden>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states, kept = Cell::kept;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    std::vector<Unit> now(H), next(H);
    for (int n = 0; n < work.batch; ++n) {
      int const length = work.length(n);
      for (int s = 0; s < states; ++s)
        for (int u = 0; u < H; ++u)
          now[std::size_t(u)].state[s] =
              work.initial[s].x != nullptr ? A(work.initial[s].row(n)[u]) : A(0);
      for (int step = 0; step < work.times; ++step) {
        long const row = work.row(n, step);
        bool const reached = work.reaches(length, step);
        for (int u = 0; u < H; ++u) {
          Unit& to = next[std::size_t(u)] = now[std::size_t(u)];
          Unit const before = to;
          A keep[kept] = {};
          if (reached) {
            A x[G], r[G];
            for (int g = 0; g < G; ++g) {
              x[g] = A(work.x[(row * G + g) * H + u]);
              r[g] = work.bias != nullptr ? A(work.bias[g * H + u]) : A(0);
              for (int k = 0; k < H; ++k)
                r[g] += now[std::size_t(k)].state[0] * A(work.weight[(long(k) * G + g) * H + u]);
            }
            Cell::activate(x, r, keep);
            Cell::advance(to.state, keep);
            to.state[0] = A(S(to.state[0]));
          }
          S* const y = work.y + row * work.y_channels();
          y[u] = S(reached ? to.state[0] : A(0));
          for (int s = work.carried_from; s < states; ++s)
            y[(1 + s - work.carried_from) * H + u] = S(to.state[s]);
          if (!work.is_valid(length))
            for (int i = u; i < work.y_channels(); i += H)
              y[i] = S(std::numeric_limits<A>::quiet_NaN());
          if (work.keep == nullptr) continue;
          for (int i = 0; i < kept; ++i)
            *kept_at(work.keep, work.keep_more, row, i, u) = S(keep[i]);
          work.h_before[row * H + u] = S(reached ? before.state[0] : A(0));
          for (int s = 1; s < states; ++s)
            work.before[(row * (states - 1) + s - 1) * H + u] = reached ? before.state[s] : A(0);
        }
        now.swap(next);
      }
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    std::vector<Unit> d(H);
    std::vector<A> d_r(std::size_t(G) * H);
    for (int n = 0; n < work.batch; ++n) {
      int const length = work.length(n);
      for (Unit& unit : d) unit = {};
      for (int step = work.times - 1; step >= 0; --step) {
        long const row = work.row(n, step);
        bool const reached = work.reaches(length, step);
        for (int u = 0; u < H; ++u) {
          A(&state)[states] = d[std::size_t(u)].state;
          S const* const d_y = work.d_y + row * work.y_channels() + u;
          for (int s = work.carried_from; s < states && work.is_valid(length); ++s)
            state[s] += A(d_y[(1 + s - work.carried_from) * H]);
          A d_x[G] = {}, d_sum[G] = {};
          if (reached) {
            state[0] += A(d_y[0]);
            A keep[kept], before[states];
            for (int i = 0; i < kept; ++i)
              keep[i] = A(*kept_at(work.d_x, const_cast<S*>(work.keep_more), row, i, u));
            before[0] = A(work.h_before[row * H + u]);
            for (int s = 1; s < states; ++s)
              before[s] = work.before[(row * (states - 1) + s - 1) * H + u];
            Cell::backward(keep, before, state, d_x, d_sum);
          }
          for (int g = 0; g < G; ++g) {
            long const at = (row * G + g) * H + u;
            if (!Cell::splits_gradient) d_sum[g] = d_x[g];
            work.d_x[at] = S(d_x[g]);
            if (work.d_r != nullptr) work.d_r[at] = S(d_sum[g]);
            d_r[std::size_t(g * H + u)] = d_sum[g];
          }
        }
        for (int k = 0; k < H && reached; ++k)
          for (int i = 0; i < G * H; ++i)
            d[std::size_t(k)].state[0] += d_r[std::size_t(i)] * A(work.weight[long(k) * G * H + i]);
      }
      for (int s = 0; s < states; ++s) {
        op::ScanState<S> const& initial = work.d_initial[s];
        if (initial.x == nullptr) continue;
        for (int c = 0; c < initial.channels && !initial.accumulate; ++c)
          initial.row(n)[c - initial.from] = S(A(0));
        for (int u = 0; u < H; ++u) {
          S& to = initial.row(n)[u];
          to = S(A(to) + d[std::size_t(u)].state[s]);
        }
      }
    }
  }

 private:
  static S* kept_at(S* keep, S* more, long row, int i, int u) {
    return i < G ? keep + (row * G + i) * H + u : more + (row * Op::more_kept + i - G) * H + u;
  }
  struct Unit {
    A state[states] = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
