// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>
#include <sentence_of.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <vector>

using phyllo::test::sentence_of;

inline int rank_of() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int ranks_of() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// Data for sums over ranks that are exact in any order: integers far below 2^24.

template <class T> using DeviceVector = Kokkos::View<T*, Kokkos::DefaultExecutionSpace>;

// What rank r of the sum gives at place i.
inline long value_of(int rank, long i, long salt = 0) {
  return (rank + 1) * (i % 1000 + 1) + salt - 2 * i % 7;
}

inline long sum_of(int ranks, long i, long salt = 0) {
  long sum = 0;
  for (int r = 0; r < ranks; ++r) sum += value_of(r, i, salt);
  return sum;
}

template <class T> DeviceVector<T> values_of(int rank, long count, long salt = 0) {
  DeviceVector<T> const data("values", std::size_t(count));
  auto const host = Kokkos::create_mirror_view(data);
  for (long i = 0; i < count; ++i) host(i) = T(value_of(rank, i, salt));
  Kokkos::deep_copy(data, host);
  return data;
}

template <class T> std::vector<T> on_host(DeviceVector<T> const& data) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, data);
  return {host.data(), host.data() + host.size()};
}

template <class T> std::vector<T> expected_sums(int ranks, long count, long salt = 0) {
  std::vector<T> sums;
  for (long i = 0; i < count; ++i) sums.push_back(T(sum_of(ranks, i, salt)));
  return sums;
}
