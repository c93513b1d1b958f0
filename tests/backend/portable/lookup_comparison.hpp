// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/lookup.hpp>
#include <phyllo/backend/reference/lookup.hpp>

#include <backend/portable/comparison.hpp>

namespace phyllo::test {

/// Indices, of which every so many-th is outside of the table.
inline std::vector<std::int32_t> indices(long rows, int entries, int outside) {
  constexpr std::int32_t none[] = {-1, std::numeric_limits<std::int32_t>::max(),
                                   std::numeric_limits<std::int32_t>::min()};
  std::vector<std::int32_t> x(static_cast<std::size_t>(rows));
  for (std::size_t r = 0; r < x.size(); ++r) {
    x[r] = std::int32_t(random_uniform(7, 0, 6, r, 0) * float(entries)) % entries;
    if (outside > 0 && r % std::size_t(outside) == 0) x[r] = r % 4 == 3 ? entries : none[r % 4];
  }
  return x;
}

/// A lookup by a backend against the reference: the same bits, since rows are added in one order.
template <class P, template <class, class> class Kernels = portable::Kernels>
void compare_lookup(long rows, int entries, int channels) {
  INFO("rows ", rows, " entries ", entries, " channels ", channels);
  using S = typename P::storage;
  using A = typename P::accumulate;
  auto const weight = numbers<S>(long(entries) * channels, 1);
  for (int const outside : {0, 3}) {
    auto const x = indices(rows, entries, outside);
    op::Lookup::Forward<P> forward{rows, entries, channels, x.data(), weight.data(), nullptr};
    if (outside == 0) {
      compare<op::Lookup, P, Kernels>(forward, 0,
                                      output<S>(rows * channels, [](auto& w, S* p) { w.y = p; }));
    } else {
      Guarded<S> y(rows * channels);
      forward.y = y.data();
      Space const exec;
      Kernels<op::Lookup, P>::run(exec, "backend", forward);
      exec.fence("backend");
      CHECK(y.is_intact());
      long wrong = 0;
      for (long i = 0; i < y.size(); ++i) {
        long const e = x[std::size_t(i / channels)];
        bool const inside = e >= 0 && e < entries;
        A const got = A(y.data()[i]);
        wrong += inside ? got != A(weight.data()[e * channels + i % channels]) : got == got;
      }
      CHECK(wrong == 0);
    }

    auto d_y = numbers<S>(rows * channels, 2);
    for (long i = 0; i < d_y.size(); ++i)
      if (outside > 0 && i / channels % outside == 0) d_y.data()[i] = S(NAN);
    std::vector<std::int32_t> work(std::size_t(op::Lookup::work_count(rows, entries) + 1), -7);
    compare<op::Lookup, P, Kernels>(
        op::Lookup::BackwardParameters<P>{rows, entries, channels, x.data(), d_y.data(), nullptr,
                                          work.data()},
        0, output<A>(long(entries) * channels, [](auto& w, A* p) { w.d_weight = p; }));
    CHECK(work.back() == -7);
  }
}

/// Tables of one entry, of entries around a digit, and of more than rows; channels around vectors.
template <class P, template <class, class> class Kernels = portable::Kernels>
void compare_lookups() {
  for (int const channels : {1, 2, 7, 16, 64, 129})
    for (long const rows : {0L, 1L, 3L, 49L, 1000L})
      for (int const entries : {1, 2, 300}) compare_lookup<P, Kernels>(rows, entries, channels);
  compare_lookup<P, Kernels>(49, 10, 1000);
  for (int const entries : {255, 256, 257}) compare_lookup<P, Kernels>(500, entries, 3);
  compare_lookup<P, Kernels>(300, 70000, 1);
  compare_lookup<P, Kernels>(70000, 5, 2);
}

}  // namespace phyllo::test
