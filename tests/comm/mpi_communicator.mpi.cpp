// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/comm/mpi/mpi_communicator.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

#include <optional>

using phyllo::MpiCollectives;
using phyllo::MpiCommunicator;

namespace {

// Before main has initialized MPI.
std::string const before_initialization =
    sentence_of([] { MpiCommunicator communicator(MPI_COMM_WORLD); });

// Destroyed after main has finalized MPI.
std::optional<MpiCommunicator> outlives_mpi;

template <class T> void sums_are_right(MpiCommunicator& communicator, long count) {
  std::vector<T> blocking, started;
  for (long i = 0; i < count; ++i) blocking.push_back(T(value_of(communicator.rank(), i)));
  started = blocking;
  std::vector<MPI_Request> requests;
  communicator.begin_sum(started.data(), count, requests);
  communicator.sum(blocking.data(), count);
  communicator.test(requests);
  communicator.wait(requests);
  CHECK(requests.empty());
  CHECK(blocking == expected_sums<T>(communicator.size(), count));
  CHECK(started == blocking);
}

}  // namespace

static_assert(!std::is_copy_constructible_v<MpiCommunicator>);
static_assert(std::is_nothrow_move_constructible_v<MpiCommunicator>);

TEST_CASE("MpiCommunicator: refuses an MPI that does not run") {
  CHECK(before_initialization ==
        "Mpi: expected a running MPI, got one that was not initialized or is finalized. Call "
        "MPI_Init_thread first, and MPI_Finalize after the last use.");
}

TEST_CASE("MpiCommunicator: may outlive MPI") {
  outlives_mpi.emplace(MPI_COMM_WORLD);
  CHECK(outlives_mpi->size() >= 1);
}

TEST_CASE("MpiCommunicator: refuses what is no communicator, or no suitable one") {
  CHECK(sentence_of([] { MpiCommunicator const c(MPI_COMM_NULL); }) ==
        "Mpi: expected a communicator, got MPI_COMM_NULL. A rank that MPI_Comm_split left out "
        "cannot take part.");
  CHECK(sentence_of([] { MpiCommunicator const c(MPI_COMM_WORLD, 0); }) ==
        "Mpi: expected a largest count from 1 to 2147483647, got 0.");
  CHECK(sentence_of([] { MpiCommunicator const c(MPI_COMM_WORLD, 1L << 31); }) ==
        "Mpi: expected a largest count from 1 to 2147483647, got 2147483648.");

  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  MPI_Comm group = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &between);
  CHECK(sentence_of([&] { MpiCommunicator const c(between); }) ==
        "Mpi: expected a communicator within one group, got an intercommunicator. Merge it with "
        "MPI_Intercomm_merge.");
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
}

TEST_CASE("MpiCommunicator: whatever MPI refuses is a sentence, and does not end the program") {
  MpiCommunicator communicator(MPI_COMM_WORLD, INT_MAX, 0, MpiCollectives::nonblocking);
  std::vector<MPI_Request> requests;
  double data = 0;
  std::string const rank = std::to_string(communicator.rank());
  std::string const blocking = sentence_of([&] { communicator.sum(&data, -1); });
  CAPTURE(blocking);
  CHECK(blocking.starts_with("Mpi on rank " + rank + ": expected MPI_Allreduce to succeed, got"));
  CHECK(blocking.ends_with(
      "\". Every rank of the communicator must be alive and make the same calls."));
  CHECK(blocking.find('\n') == std::string::npos);
  std::string const started = sentence_of([&] { communicator.begin_sum(&data, -1, requests); });
  CAPTURE(started);
  CHECK(started.starts_with("Mpi on rank " + rank + ": expected MPI_Iallreduce to succeed, got"));
  communicator.wait(requests);
  CHECK(sentence_of([] { phyllo::check_mpi(MPI_SUCCESS, "MPI_Allreduce", 0); }) == "");
}

TEST_CASE("MpiCommunicator: long sums take several calls, with the same result") {
  for (auto const collectives :
       {MpiCollectives::messages, MpiCollectives::nonblocking, MpiCollectives::blocking})
    for (long const largest : {1L, 7L, 16L, 17L, 1000L}) {
      CAPTURE(int(collectives));
      CAPTURE(largest);
      MpiCommunicator communicator(MPI_COMM_WORLD, largest, 0, collectives);
      for (long const count : {0L, 1L, 7L, 17L, 33L}) {
        CAPTURE(count);
        sums_are_right<float>(communicator, count);
        sums_are_right<double>(communicator, count);
      }
    }
  MpiCommunicator communicator(MPI_COMM_WORLD, 4, 0, MpiCollectives::nonblocking);
  std::vector<double> data(9);
  std::vector<MPI_Request> requests;
  communicator.begin_sum(data.data(), 9, requests);
  CHECK(requests.size() == 3);
  communicator.wait(requests);
}

// Whether the request that a sum of these data begins outlives it.
template <class T> static bool is_persistent(MpiCommunicator& communicator, std::vector<T>& data) {
  std::vector<MPI_Request> requests;
  communicator.begin_sum(data.data(), long(data.size()), requests);
  if (requests.empty()) {
    communicator.wait(requests);
    return false;
  }
  for (int done = 0; done == 0;) {
    communicator.test(requests);
    MPI_Request_get_status(requests.back(), &done, MPI_STATUS_IGNORE);
  }
  communicator.test(requests);  // frees it, unless it is persistent
  bool const is_there = requests.back() != MPI_REQUEST_NULL;
  communicator.wait(requests);
  return is_there;
}

TEST_CASE("MpiCommunicator: planned sums are begun again and again, beside others") {
  for (auto const collectives :
       {MpiCollectives::messages, MpiCollectives::nonblocking, MpiCollectives::blocking})
    for (long const largest : {5L, 1000L}) {
      CAPTURE(int(collectives));
      CAPTURE(largest);
      MpiCommunicator planning(MPI_COMM_WORLD, largest, 60, collectives);
      std::vector<float> first(33), other(33);
      std::vector<double> second(7);
      planning.plan_sum(first.data(), 33);
      planning.plan_sum(second.data(), 7);
      MpiCommunicator communicator(std::move(planning));
      for (int step = 0; step < 3; ++step) {
        auto const fill = [&](auto& data, int add) {
          for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = float(value_of(communicator.rank(), long(i), add + step));
        };
        fill(first, 1);
        fill(second, 2);
        fill(other, 3);
        std::vector<MPI_Request> requests;
        communicator.begin_sum(second.data(), 7, requests);
        communicator.begin_sum(other.data(), 33, requests);
        communicator.begin_sum(first.data(), 33, requests);
        communicator.test(requests);
        communicator.wait(requests);
        CHECK(first == expected_sums<float>(communicator.size(), 33, 1 + step));
        CHECK(second == expected_sums<double>(communicator.size(), 7, 2 + step));
        CHECK(other == expected_sums<float>(communicator.size(), 33, 3 + step));
      }
      bool const planned = MPI_VERSION >= 4 && collectives == MpiCollectives::nonblocking;
      CHECK(is_persistent(communicator, first) == planned);
      CHECK(is_persistent(communicator, second) == planned);
      CHECK_FALSE(is_persistent(communicator, other));
    }
}

TEST_CASE("MpiCommunicator: shares moved by blocking calls are those moved by started ones") {
  for (long const largest : {3L, 1000L}) {
    for (auto const collectives : {MpiCollectives::nonblocking, MpiCollectives::blocking}) {
      MpiCommunicator communicator(MPI_COMM_WORLD, largest, 60, collectives);
      int const ranks = communicator.size(), rank = communicator.rank();
      // Rank r has r + 1 numbers.
      std::vector<int> counts, begins;
      std::vector<long> bounds{0};
      for (int r = 0; r < ranks; ++r) {
        counts.push_back(r + 1);
        begins.push_back(int(bounds.back()));
        bounds.push_back(bounds.back() + r + 1);
      }
      std::size_t const all = std::size_t(bounds.back());
      std::vector<double> scattered(std::size_t(rank) + 1), sent(all), gathered(all), spread(all);
      std::vector<double> pieces(std::size_t(2 * ranks)), exchanged(std::size_t(2 * ranks));
      for (std::size_t i = 0; i < all; ++i) sent[i] = double(value_of(rank, long(i)));
      for (std::size_t i = 0; i < pieces.size(); ++i)
        pieces[i] = double(value_of(rank, long(i), 5));
      for (int i = 0; i <= rank; ++i) {
        gathered[std::size_t(begins[std::size_t(rank)] + i)] = value_of(rank, i, 7);
        spread[std::size_t(begins[std::size_t(rank)] + i)] = value_of(rank, i, 9);
      }
      std::vector<MPI_Request> requests;
      communicator.begin_reduce_scatter(sent.data(), scattered.data(), counts.data(), requests);
      communicator.begin_all_gather(gathered.data(), counts.data(), begins.data(), requests);
      communicator.begin_all_gather(spread.data(), bounds.data(), requests);
      communicator.begin_all_to_all(pieces.data(), exchanged.data(), 2, requests);
      CHECK(requests.empty() == (collectives == MpiCollectives::blocking));
      communicator.wait(requests);
      auto const sums = expected_sums<double>(ranks, bounds.back());
      for (int i = 0; i <= rank; ++i)
        CHECK(scattered[std::size_t(i)] == sums[std::size_t(begins[std::size_t(rank)] + i)]);
      for (int r = 0; r < ranks; ++r) {
        for (int i = 0; i <= r; ++i) {
          CHECK(gathered[std::size_t(begins[std::size_t(r)] + i)] == value_of(r, i, 7));
          CHECK(spread[std::size_t(begins[std::size_t(r)] + i)] == value_of(r, i, 9));
        }
        for (int i = 0; i < 2; ++i)
          CHECK(exchanged[std::size_t(2 * r + i)] == value_of(r, 2 * rank + i, 5));
      }
    }
  }
}

TEST_CASE("MpiCommunicator: exclusive_sum counts the ranks below") {
  MpiCommunicator communicator(MPI_COMM_WORLD);
  long const mine = (5L << 32) + communicator.rank();
  long expected = 0;
  for (int r = 0; r < communicator.rank(); ++r) expected += (5L << 32) + r;
  CHECK(communicator.exclusive_sum(mine) == expected);
  CHECK(communicator.exclusive_sum(0) == 0);
}

TEST_CASE("MpiCommunicator: outlives the caller's, and its errors stay its own") {
  MPI_Comm callers = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &callers);
  MPI_Comm_set_errhandler(callers, MPI_ERRORS_ARE_FATAL);
  MpiCommunicator communicator(callers);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(callers, &handler);
  CHECK(handler == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&callers);
  sums_are_right<double>(communicator, 5);
  MpiCommunicator moved(std::move(communicator));
  sums_are_right<double>(moved, 5);
}
