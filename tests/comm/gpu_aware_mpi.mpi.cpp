// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Who is believed about GPUs, and the test at the start. The order of the questions and the user's
// word are executed here; what device memory is to MPI only a machine with a GPU shows.

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
  }
  unsetenv("PHYLLO_GPU_AWARE_MPI");
  CHECK(phyllo::reads_device_memory(MPI_COMM_WORLD));  // Cray's variable
  unsetenv("MPICH_GPU_SUPPORT_ENABLED");
  CHECK(phyllo::switch_of_environment("MPICH_GPU_SUPPORT_ENABLED") == std::nullopt);
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
