// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/reduction.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <op::ReductionKind Kind, class P> struct Kernels<op::Reduction<Kind>, P> {
  using Op = op::Reduction<Kind>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    each_result(work, [&](long at, S const* x, std::vector<int> const& numbers) {
      if constexpr (op::is_maximum(Kind)) {
        int best = numbers[0], equal = 0;
        for (int i : numbers)
          if (A(x[i]) > A(x[best]) || (std::isnan(A(x[i])) && !std::isnan(A(x[best])))) best = i;
        for (int i : numbers) equal += is_same(x[i], x[best]);
        work.y[at] = x[best];
        if (work.chosen != nullptr)
          work.chosen[at] = Kind == op::ReductionKind::maximum ? equal : best;
      } else {
        A sum = 0;
        for (int i : numbers) sum += A(x[i]);
        work.y[at] = S(Kind == op::ReductionKind::mean ? sum / A(numbers.size()) : sum);
      }
    });
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    std::size_t const size = std::size_t(work.batch) * std::size_t(work.windows.input.size());
    std::vector<A> sum(size, A(0));
    each_result(work, [&](long at, S const* x, std::vector<int> const& numbers) {
      A* const to = sum.data() + sample(at, work) * work.windows.input.size();
      for (int i : numbers) {
        A const d_y = A(work.d_y[at]);
        if constexpr (Kind == op::ReductionKind::sum) to[i] += d_y;
        if constexpr (Kind == op::ReductionKind::mean) to[i] += d_y / A(numbers.size());
        if constexpr (Kind == op::ReductionKind::maximum)
          if (is_same(x[i], work.y[at])) to[i] += d_y / A(work.chosen[at]);
        if constexpr (Kind == op::ReductionKind::first_maximum)
          if (i == work.chosen[at]) to[i] += d_y;
      }
    });
    for (std::size_t i = 0; i < size; ++i)
      work.d_x[i] = S(work.accumulate ? A(work.d_x[i]) + sum[i] : sum[i]);
  }

 private:
  static bool is_same(S a, S b) { return A(a) == A(b) || (std::isnan(A(a)) && std::isnan(A(b))); }
  template <class Work> static long sample(long at, Work const& work) {
    return at / work.windows.output.size();
  }
  // body(place of the result, its sample, places in the sample of the numbers of its window).
  template <class Work, class Body> static void each_result(Work const& work, Body const& body) {
    Shape const &in = work.windows.input, &out = work.windows.output;
    for (long at = 0; at < long(work.batch) * out.size(); ++at) {
      int const q = int(at / out.channels % out.positions()), c = int(at % out.channels);
      int const place[3] = {q / out.spatial[2] / out.spatial[1],
                            q / out.spatial[2] % out.spatial[1], q % out.spatial[2]};
      int first[3], last[3];
      for (int d = 0; d < 3; ++d) {
        first[d] = place[d] * in.spatial[d] / out.spatial[d];
        last[d] = ((place[d] + 1) * in.spatial[d] + out.spatial[d] - 1) / out.spatial[d];
      }
      bool const joins = out.channels != in.channels;
      std::vector<int> numbers;
      for (int d = first[0]; d < last[0]; ++d)
        for (int h = first[1]; h < last[1]; ++h)
          for (int w = first[2]; w < last[2]; ++w)
            for (int k = joins ? 0 : c; k < (joins ? in.channels : c + 1); ++k)
              numbers.push_back(((d * in.spatial[1] + h) * in.spatial[2] + w) * in.channels + k);
      body(at, work.x == nullptr ? nullptr : work.x + sample(at, work) * in.size(), numbers);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
