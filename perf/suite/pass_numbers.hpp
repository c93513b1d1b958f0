// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/random.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace perf {

/// Aligned to cache lines, as a model's arenas are.
template <class T> using Numbers = Kokkos::View<T*, Kokkos::HostSpace>;

/// Numbers in [-1, 1) that type From can hold, in type To.
template <class To, class From = To> Numbers<To> numbers(long count, unsigned seed) {
  Numbers<To> const v("numbers", std::size_t(count));
  for (long i = 0; i < count; ++i)
    v(std::size_t(i)) =
        To(From(float(2 * phyllo::random_uniform(seed, 0, 0, std::uint64_t(i), 0) - 1)));
  return v;
}

/// Of a pass, relative to the numbers that are expected.
template <class A, class B> double error_of(A const& expected, B const& got) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = double(expected[i]), d = double(got[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return std::sqrt(difference / norm);
}

}  // namespace perf
