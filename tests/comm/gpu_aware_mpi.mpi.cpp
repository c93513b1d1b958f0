// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who is believed about GPUs, and the test at the start. Executed here: the user's word by option
// and by environment variable, before each other and before a library's; and Cray's variable, which
// is asked last, where all others say nothing. That memory kinds come before the libraries' queries
// can be seen only where a library says yes, and what device memory is to MPI only with a GPU.

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/gpu_aware_mpi.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

#include <cstdlib>

using phyllo::AllReduce;
using phyllo::GpuAwareMpi;

static_assert(phyllo::ShareTransport<GpuAwareMpi>);
static_assert(phyllo::Communication<AllReduce<GpuAwareMpi>>);

TEST_CASE("GpuAwareMpi: memory kinds that name a device") {
  CHECK(phyllo::names_device_memory("mpi,system,cuda:device"));
  CHECK(phyllo::names_device_memory("system,rocm"));
  CHECK_FALSE(phyllo::names_device_memory("mpi,system"));
  CHECK_FALSE(phyllo::names_device_memory(""));
}

TEST_CASE("GpuAwareMpi: the user's word is believed first") {
  setenv("MPICH_GPU_SUPPORT_ENABLED", "1", 1);
  for (char const* const word : {"0", "1"}) {
    setenv("PHYLLO_GPU_AWARE_MPI", word, 1);
    CHECK(phyllo::reads_device_memory(MPI_COMM_WORLD) == (word[0] == '1'));
    CHECK(GpuAwareMpi(MPI_COMM_WORLD).reads_device() == (word[0] == '1'));
    CHECK_FALSE(GpuAwareMpi(MPI_COMM_WORLD, {.staged = true}).reads_device());
    // By option it comes before that by the environment.
    CHECK(GpuAwareMpi(MPI_COMM_WORLD, {.device_memory = true}).reads_device());
    CHECK_FALSE(
        GpuAwareMpi(MPI_COMM_WORLD, {.staged = true, .device_memory = true}).reads_device());
  }
  unsetenv("PHYLLO_GPU_AWARE_MPI");
  CHECK(phyllo::reads_device_memory(MPI_COMM_WORLD));  // Cray's variable
  CHECK(GpuAwareMpi(MPI_COMM_WORLD).reads_device());
  setenv("MPICH_GPU_SUPPORT_ENABLED", "0", 1);
  CHECK_FALSE(GpuAwareMpi(MPI_COMM_WORLD).reads_device());
  CHECK(GpuAwareMpi(MPI_COMM_WORLD, {.device_memory = true}).reads_device());
  unsetenv("MPICH_GPU_SUPPORT_ENABLED");
  CHECK(phyllo::switch_of_environment("MPICH_GPU_SUPPORT_ENABLED") == std::nullopt);
}

// An MPI that takes the device's memory and does not read it.
struct Blind : phyllo::Mpi {
  using Mpi::Mpi;
  template <class Space, phyllo::Summable T> static void sum(Space const&, T*, long) {}
};

// One whose sums do, unless they are only started.
struct BlindLater : phyllo::Mpi {
  using Mpi::Mpi;
  template <class Space, phyllo::Summable T> static void begin(Space const&, T*, long) {}
};

TEST_CASE("GpuAwareMpi: a sum that comes out wrong is refused at the start") {
  GpuAwareMpi transport = MPI_COMM_WORLD;
  CHECK(sentence_of([&] { phyllo::try_device_memory(transport); }) == "");
  int const ranks = ranks_of();
  Blind blind = MPI_COMM_WORLD;
  BlindLater blind_later = MPI_COMM_WORLD;
  std::string const sentence = sentence_of([&] { phyllo::try_device_memory(blind); });
  CHECK(sentence_of([&] { phyllo::try_device_memory(blind_later); }) == sentence);
  if (ranks == 1)
    CHECK(sentence == "");
  else
    CHECK(sentence ==
          "GpuAwareMpi on rank " + std::to_string(rank_of()) +
              ": expected the ranks' numbers on the device to sum to " +
              std::to_string(double(ranks * (ranks + 1) / 2)) + ", got " +
              std::to_string(double(rank_of() + 1)) +
              ". This MPI does not read the device's memory: use Mpi, or load another MPI.");
}

TEST_CASE("GpuAwareMpi: sums are those of Mpi") {
  setenv("PHYLLO_GPU_AWARE_MPI", "1", 1);
  Kokkos::DefaultExecutionSpace const exec;
  if (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                 Kokkos::DefaultExecutionSpace::memory_space>::accessible) {
    AllReduce<GpuAwareMpi, 64> communication = MPI_COMM_WORLD;
    auto const data = values_of<float>(communication.rank(), 1'001);
    communication.reserve(exec, 4'004);
    communication.begin(exec, data.data() + 500, 501);
    communication.begin(exec, data.data(), 500);
    communication.finish(exec);
    CHECK(on_host(data) == expected_sums<float>(communication.size(), 1'001));
  }
  unsetenv("PHYLLO_GPU_AWARE_MPI");
}
