// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The policy as a trainer uses it: kernels write gradients, buckets leave between launches.

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/mpi.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

#include <algorithm>

using phyllo::AllReduce;
using phyllo::Mpi;

static_assert(phyllo::Communication<AllReduce<Mpi>>);
static_assert(std::is_convertible_v<MPI_Comm, AllReduce<Mpi>>);
static_assert(!std::is_copy_constructible_v<AllReduce<Mpi>>);
static_assert(std::is_nothrow_move_constructible_v<AllReduce<Mpi>>);

namespace {

template <class T> struct WriteGradients {
  T* gradients;
  long first;
  int rank;
  KOKKOS_FUNCTION void operator()(long i) const {
    gradients[first + i] = T((rank + 1) * (first + i) % 4096);
  }
};

// One step: the arena is written piece by piece from its end, asynchronously, and each piece leaves
// at once; a begin that did not wait for the kernel would send what was there before.
template <class T, class C> void step_with_buckets(C& communication, long size) {
  Kokkos::DefaultExecutionSpace const exec;
  DeviceVector<T> const gradients("gradients", std::size_t(size));
  Kokkos::deep_copy(gradients, T(-1));
  communication.reserve(exec, size * long(sizeof(T)));
  long const most = C::bucket_bytes == 0 ? size : C::bucket_bytes / long(sizeof(T));
  for (long end = size; end > 0;) {
    long const first = std::max(0L, end - most);
    Kokkos::parallel_for(
        "write gradients",
        Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace, Kokkos::IndexType<long>>(exec, 0,
                                                                                    end - first),
        WriteGradients<T>{gradients.data(), first, communication.rank()});
    communication.begin(exec, gradients.data() + first, end - first);
    communication.progress();
    end = first;
  }
  communication.finish(exec);
  std::vector<T> expected;
  for (long i = 0; i < size; ++i) {
    long sum = 0;
    for (int r = 0; r < communication.size(); ++r) sum += (r + 1) * i % 4096;
    expected.push_back(T(sum));
  }
  CHECK(on_host(gradients) == expected);
}

template <long BucketBytes> void steps_with_buckets_of() {
  CAPTURE(BucketBytes);
  AllReduce<Mpi, BucketBytes> direct = MPI_COMM_WORLD;
  AllReduce<Mpi, BucketBytes> staged(Mpi(MPI_COMM_WORLD, {.staged = true}));
  for (auto* communication : {&direct, &staged})
    for (long const size : {1L, 2L, 33L, 1001L}) {
      CAPTURE(size);
      step_with_buckets<float>(*communication, size);
      step_with_buckets<double>(*communication, size);
    }
}

}  // namespace

TEST_CASE("AllReduce<Mpi>: every bucket size gives the same sums") {
  CHECK(std::string(AllReduce<Mpi>::name) == "AllReduce<Mpi>");
  steps_with_buckets_of<0>();
  steps_with_buckets_of<8>();
  steps_with_buckets_of<24>();
  steps_with_buckets_of<1024>();
  steps_with_buckets_of<phyllo::default_bucket_bytes>();
}

TEST_CASE("AllReduce<Mpi>: more gradients than one bucket of the default size") {
  AllReduce<Mpi> communication = MPI_COMM_WORLD;
  step_with_buckets<float>(communication, 2 * phyllo::default_bucket_bytes / 4 + 12'345);
}

TEST_CASE("AllReduce<Mpi>: a rank with an empty batch takes part with zeros") {
  AllReduce<Mpi> communication = MPI_COMM_WORLD;
  Kokkos::DefaultExecutionSpace const exec;
  // The last rank has no samples: gradients and weight are 0, and the weighted mean is right.
  int const last = communication.size() - 1;
  bool const empty = communication.rank() == last && last > 0;
  int const samples = empty ? 0 : 4;
  DeviceVector<double> const data("sum of gradients, samples", 2);
  auto const host = Kokkos::create_mirror_view(data);
  host(0) = samples * 2.5;
  host(1) = samples;
  Kokkos::deep_copy(data, host);
  communication.begin(exec, data.data(), 2);
  communication.finish(exec);
  auto const sums = on_host(data);
  CHECK(sums[0] / sums[1] == 2.5);
  CHECK(sums[1] == 4.0 * (last > 0 ? last : 1));
  CHECK(communication.exclusive_sum(samples) == 4L * communication.rank());
}

TEST_CASE("AllReduce<Mpi>: two trainers on one communicator, in flight at once") {
  AllReduce<Mpi> generator = MPI_COMM_WORLD, discriminator = MPI_COMM_WORLD;
  Kokkos::DefaultExecutionSpace const exec;
  auto const first = values_of<float>(generator.rank(), 3'001, 5);
  auto const second = values_of<double>(generator.rank(), 2'003, 9);
  generator.begin(exec, first.data(), 3'001);
  discriminator.begin(exec, second.data(), 2'003);
  discriminator.progress();
  generator.finish(exec);
  CHECK(on_host(first) == expected_sums<float>(generator.size(), 3'001, 5));
  discriminator.finish(exec);
  CHECK(on_host(second) == expected_sums<double>(generator.size(), 2'003, 9));
}

TEST_CASE("AllReduce<Mpi>: no communicator is one sentence") {
  CHECK(sentence_of([] { AllReduce<Mpi> const communication = MPI_COMM_NULL; }) ==
        "Mpi: expected a communicator, got MPI_COMM_NULL. A rank that MPI_Comm_split left out "
        "cannot take part.");
}
