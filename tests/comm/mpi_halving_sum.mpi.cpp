// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/comm/mpi/mpi_halving_sum.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

#include <cmath>

using phyllo::MpiHalvingSum;

namespace {

struct World {
  int rank = 0, size = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
};

// The numbers cut into pieces, all of whose sums are under way at once.
template <class T> void sum_in_pieces(std::vector<T>& data, long piece, bool by_advancing) {
  World const world;
  long const count = long(data.size());
  phyllo::MpiWatch watch(MPI_COMM_NULL, world.rank, world.size, 60);
  std::vector<std::vector<T>> rooms;
  std::vector<MpiHalvingSum<T>> sums;
  rooms.reserve(std::size_t(count / piece + 1));
  sums.reserve(std::size_t(count / piece + 1));
  for (long first = 0; first < count; first += piece) {
    long const size = std::min(piece, count - first);
    rooms.emplace_back(std::size_t(MpiHalvingSum<T>::room_size(size, world.size)));
    sums.emplace_back(MPI_COMM_WORLD, world.rank, world.size, int(sums.size()), data.data() + first,
                      size, watch);
    sums.back().start(rooms.back().data());
  }
  // From the last to the first, so that no rank may rely on an order.
  for (std::size_t left = sums.size(); left > 0; --left) {
    if (by_advancing)
      while (!sums[left - 1].advance()) {
      }
    else
      watch.wait_until("a sum", [&] { return sums[left - 1].advance(); });
    CHECK(sums[left - 1].advance());
  }
}

template <class T> void exact_sums() {
  World const world;
  for (bool const by_advancing : {false, true})
    for (long const count : {0L, 1L, 2L, 3L, 7L, 64L, 1001L, 70001L})
      for (long const piece : {1L, 5L, 1000L, 100000L}) {
        if (count / piece > 1001) continue;
        CAPTURE(count);
        CAPTURE(piece);
        std::vector<T> data;
        for (long i = 0; i < count; ++i) data.push_back(T(value_of(world.rank, i)));
        sum_in_pieces(data, piece, by_advancing);
        CHECK(data == expected_sums<T>(world.size, count));
      }
}

}  // namespace

TEST_CASE("MpiHalvingSum: any number of ranks, any count, many under way") {
  exact_sums<float>();
  exact_sums<double>();
}

TEST_CASE("MpiHalvingSum: the bits depend neither on the rank nor on how the numbers are cut") {
  World const world;
  std::vector<float> whole;
  for (int i = 0; i < 5003; ++i)
    whole.push_back(std::sin(float(i)) * std::exp2(float((i * 7 + world.rank * 5) % 40 - 20)));
  std::vector<float> pieces = whole, first;
  sum_in_pieces(whole, 5003, false);
  sum_in_pieces(pieces, 17, true);
  CHECK(whole == pieces);
  first = whole;
  MPI_Bcast(first.data(), int(first.size()), MPI_FLOAT, 0, MPI_COMM_WORLD);
  CHECK(first == whole);
}
