// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The transport with data on the device; all cases with and without the copy on the host, sums also
// by MPI's own calls, those that start and, as for a device's memory, those that block.

#include <phyllo/comm/mpi.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

using phyllo::Mpi;
using phyllo::MpiOptions;

static_assert(phyllo::Transport<Mpi>);
static_assert(std::is_convertible_v<MPI_Comm, Mpi>);
static_assert(!std::is_copy_constructible_v<Mpi> && std::is_nothrow_move_constructible_v<Mpi>);

namespace {

Kokkos::DefaultExecutionSpace instance() { return {}; }

// What the transport can be told about its calls; an MPI may read the host's memory only.
std::vector<MpiOptions> ways() {
  std::vector<MpiOptions> all{{}, {.staged = true}, {.library_sums = true}};
  all.push_back({.staged = true, .library_sums = true});
  if (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                 Kokkos::DefaultExecutionSpace::memory_space>::accessible)
    all.push_back({.device_memory = true});
  return all;
}

int allocations = 0;

void count_allocation(Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t) {
  ++allocations;
}

template <class T> void blocking_sums(Mpi& mpi) {
  // Growing and shrinking: the copy on the host has to grow with them.
  for (long const count : {0L, 1L, 3L, 1023L, 7L, 100'003L, 0L, 1L}) {
    CAPTURE(count);
    auto const data = values_of<T>(mpi.rank(), count);
    mpi.sum(instance(), data.data(), count);
    CHECK(on_host(data) == expected_sums<T>(mpi.size(), count));
  }
}

// Buckets of one arena, as a backward pass sends them: from the end to the front.
template <class T> void buckets_in_flight(Mpi& mpi, std::vector<long> const& counts) {
  long size = 0;
  for (long const count : counts) size += count;
  auto const data = values_of<T>(mpi.rank(), size);
  auto const aside = values_of<double>(mpi.rank(), 5, 11);
  long end = size;
  for (long const count : counts) {
    mpi.begin(instance(), data.data() + end - count, count);
    end -= count;
    mpi.progress();
  }
  mpi.sum(instance(), aside.data(), 5);
  mpi.progress();
  mpi.finish(instance());
  CHECK(on_host(data) == expected_sums<T>(mpi.size(), size));
  CHECK(on_host(aside) == expected_sums<double>(mpi.size(), 5, 11));
}

}  // namespace

TEST_CASE("Mpi: blocking sums") {
  for (MpiOptions const& way : ways()) {
    CAPTURE(way.staged);
    CAPTURE(way.library_sums);
    Mpi mpi(MPI_COMM_WORLD, way);
    blocking_sums<float>(mpi);
    blocking_sums<double>(mpi);
  }
}

TEST_CASE("Mpi: many buckets in flight, with a blocking sum between") {
  for (MpiOptions const& way : ways())
    for (bool const reserved : {false, true}) {
      CAPTURE(way.staged);
      CAPTURE(way.library_sums);
      CAPTURE(reserved);
      Mpi mpi(MPI_COMM_WORLD, way);
      if (reserved) mpi.reserve(instance(), 20'004L * long(sizeof(double)), 7);
      for (int step = 0; step < 3; ++step) {
        buckets_in_flight<float>(mpi, {1, 0, 3, 10'001, 17, 0, 9'999});
        buckets_in_flight<double>(mpi, {9'999, 1, 10'001, 3});
        buckets_in_flight<double>(mpi, {});
        buckets_in_flight<float>(mpi, {20'000});
      }
    }
}

TEST_CASE("Mpi: what is planned is summed in every step") {
  for (MpiOptions const& way : ways()) {
    CAPTURE(way.staged);
    CAPTURE(way.library_sums);
    Mpi mpi(MPI_COMM_WORLD, way);
    auto const data = values_of<float>(mpi.rank(), 1'001);
    mpi.plan(instance(), data.data() + 501, 500);
    mpi.plan(instance(), data.data(), 501);
    mpi.plan(instance(), data.data(), 0);
    for (int step = 0; step < 3; ++step) {
      Kokkos::deep_copy(data, values_of<float>(mpi.rank(), 1'001, step));
      mpi.begin(instance(), data.data() + 501, 500);
      mpi.begin(instance(), data.data(), 501);
      mpi.finish(instance());
      CHECK(on_host(data) == expected_sums<float>(mpi.size(), 1'001, step));
    }
  }
}

TEST_CASE("Mpi: long sums travel in pieces of nearly the same size") {
  using phyllo::MpiSums;
  long const full = long(MpiSums::piece / sizeof(float));
  CHECK(MpiSums::piece_of<float>(0) == 0);
  CHECK(MpiSums::piece_of<float>(1) == 1);
  CHECK(MpiSums::piece_of<float>(full + full / 2 - 1) == full + full / 2 - 1);
  CHECK(MpiSums::piece_of<float>(2 * full + 1) == full + 1);
  CHECK(MpiSums::piece_of<float>(10 * full) == full);
  CHECK(MpiSums::piece_of<double>(full) == full / 2);
  Mpi mpi(MPI_COMM_WORLD);
  auto const data = values_of<double>(mpi.rank(), 5 * full + 3);
  mpi.sum(instance(), data.data(), 5 * full + 3);
  CHECK(on_host(data) == expected_sums<double>(mpi.size(), 5 * full + 3));
}

TEST_CASE("Mpi: buckets beyond the room for what arrives wait for others to end") {
  static_assert(phyllo::MpiSums::most_room < 150'000 * sizeof(double));
  Mpi mpi(MPI_COMM_WORLD);
  for (int step = 0; step < 2; ++step) {
    buckets_in_flight<float>(mpi, {300'001, 5, 700'003, 1, 0, 400'000, 90'000, 17, 600'000});
    buckets_in_flight<double>(mpi, {7, 150'000, 150'001, 20'000, 20'000, 500'000, 3});
  }
}

TEST_CASE("Mpi: after reserve and the longest sum, nothing allocates") {
  Mpi mpi(MPI_COMM_WORLD, {.staged = true});
  auto const data = values_of<float>(mpi.rank(), 1'000);
  mpi.reserve(instance(), 1'000L * long(sizeof(float)), 4);
  auto const aside = values_of<double>(mpi.rank(), 7);
  mpi.sum(instance(), aside.data(), 7);
  allocations = 0;
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  for (int step = 0; step < 5; ++step) {
    for (long const first : {999L, 666L, 333L, 0L})
      mpi.begin(instance(), data.data() + first, first == 999 ? 1 : 333);
    mpi.sum(instance(), aside.data(), 7);
    mpi.finish(instance());
  }
  int const after_reserve = allocations;
  // Without room for them, it has to; so the count is alive.
  Mpi without_room(MPI_COMM_WORLD, {.staged = true});
  without_room.begin(instance(), data.data(), 1'000);
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  CHECK(after_reserve == 0);
  CHECK(allocations == (mpi.size() == 1 ? 0 : 1));
  without_room.finish(instance());
}

TEST_CASE("Mpi: sums longer than one MPI call") {
  for (bool const staged : {false, true}) {
    CAPTURE(staged);
    Mpi mpi(MPI_COMM_WORLD, {.staged = staged, .largest_count = 100});
    blocking_sums<float>(mpi);
    buckets_in_flight<double>(mpi, {1, 99, 100, 101, 1234});
  }
}

TEST_CASE("Mpi: begin waits for nobody, and two objects do not meet") {
  // Odd ranks begin in the other order: a begin that waits, or one communicator for both, never
  // comes back or mixes them up.
  for (bool const staged : {false, true}) {
    CAPTURE(staged);
    Mpi one(MPI_COMM_WORLD, {.staged = staged}), other(MPI_COMM_WORLD, {.staged = staged});
    auto const first = values_of<float>(one.rank(), 5'003, 1);
    auto const second = values_of<float>(one.rank(), 5'003, 2);
    bool const odd = one.rank() % 2 == 1;
    for (bool const turn : {odd, !odd}) {
      if (turn)
        other.begin(instance(), second.data(), 5'003);
      else
        one.begin(instance(), first.data(), 5'003);
    }
    for (bool const turn : {!odd, odd}) (turn ? other : one).finish(instance());
    CHECK(on_host(first) == expected_sums<float>(one.size(), 5'003, 1));
    CHECK(on_host(second) == expected_sums<float>(one.size(), 5'003, 2));
  }
}

TEST_CASE("Mpi: a NaN and an infinity of one rank reach all, and nothing else does") {
  for (bool const staged : {false, true}) {
    CAPTURE(staged);
    Mpi mpi(MPI_COMM_WORLD, {.staged = staged});
    long const count = 37;
    auto const data = values_of<float>(mpi.rank(), count);
    if (mpi.rank() == mpi.size() - 1) {
      Kokkos::deep_copy(Kokkos::subview(data, 3), std::numeric_limits<float>::quiet_NaN());
      Kokkos::deep_copy(Kokkos::subview(data, 20), -std::numeric_limits<float>::infinity());
    }
    mpi.begin(instance(), data.data(), count);
    mpi.finish(instance());
    auto sums = on_host(data);
    auto expected = expected_sums<float>(mpi.size(), count);
    CHECK(std::isnan(sums[3]));
    CHECK(sums[20] == -std::numeric_limits<float>::infinity());
    sums[3] = expected[3];
    sums[20] = expected[20];
    CHECK(sums == expected);
  }
}

TEST_CASE("Mpi: the ranks of the communicator that it is given, which may go") {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // Reversed within the halves, so that the rank differs from that in the world.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  Mpi mpi(half);
  MPI_Comm_free(&half);
  int const members = (size + 1 - rank % 2) / 2;
  CHECK(mpi.size() == members);
  CHECK(mpi.rank() == members - 1 - rank / 2);
  blocking_sums<float>(mpi);
  buckets_in_flight<double>(mpi, {3, 1001, 5});
  CHECK(mpi.exclusive_sum(10) == 10L * mpi.rank());

  // Only rank 0 takes part; the others have no communicator.
  MPI_Comm alone = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &alone);
  std::string const sentence = sentence_of([&] { Mpi const none(alone); });
  CHECK(sentence.starts_with(rank == 0 ? "" : "Mpi: expected a communicator, got MPI_COMM_NULL."));
  CHECK(sentence.empty() == (rank == 0));
  if (rank == 0) MPI_Comm_free(&alone);
}

TEST_CASE("Mpi: exclusive_sum, where a rank may have nothing") {
  Mpi const mpi(MPI_COMM_WORLD);
  long const mine = mpi.rank() == 1 ? 0 : 4L << 32;
  long expected = 0;
  for (int r = 0; r < mpi.rank(); ++r) expected += r == 1 ? 0 : 4L << 32;
  CHECK(mpi.exclusive_sum(mine) == expected);
}

TEST_CASE("Mpi: a negative count is refused before anything is sent") {
  Mpi mpi(MPI_COMM_WORLD);
  float data = 0;
  std::string const expected = "Mpi on rank " + std::to_string(mpi.rank()) +
                               ": expected a count of numbers that is 0 or more, got -1.";
  CHECK(sentence_of([&] { mpi.sum(instance(), &data, -1); }) == expected);
  CHECK(sentence_of([&] { mpi.begin(instance(), &data, -1); }) == expected);
  blocking_sums<float>(mpi);
}

TEST_CASE("Mpi: what is under way moves with the object, and is awaited where it is dropped") {
  for (bool const staged : {false, true}) {
    CAPTURE(staged);
    auto const moved = [&] {
      Mpi mpi(MPI_COMM_WORLD, {.staged = staged});
      auto const data = values_of<float>(mpi.rank(), 4'001);
      mpi.begin(instance(), data.data(), 4'001);
      Mpi to(std::move(mpi));
      to.finish(instance());
      CHECK(on_host(data) == expected_sums<float>(to.size(), 4'001));
      return to;
    };
    Mpi mpi = moved();
    blocking_sums<double>(mpi);
    auto const dropped = values_of<double>(mpi.rank(), 100'003);
    {
      Mpi under_way(MPI_COMM_WORLD, {.staged = staged});
      under_way.begin(instance(), dropped.data(), 100'003);
    }
    // Where MPI sums in place, it has done so; a copy on the host was never brought back.
    bool const in_place =
        !staged &&
        Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                   Kokkos::DefaultExecutionSpace::memory_space>::accessible;
    if (in_place || mpi.size() == 1)
      CHECK(on_host(dropped) == expected_sums<double>(mpi.size(), 100'003));
    else
      CHECK(on_host(dropped) == on_host(values_of<double>(mpi.rank(), 100'003)));
  }
}
