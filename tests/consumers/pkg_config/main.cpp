// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's program whose flags come from pkg-config alone.

#include <phyllo/layer/linear.hpp>
#include <phyllo/model/build_info.hpp>
#include <phyllo/network/network.hpp>

#include <cstdio>
#include <string>

#ifdef WITH_MPI
#include <phyllo/comm/mpi/mpi_communicator.hpp>
#endif

struct Mlp : phyllo::Network<phyllo::Input<4>, phyllo::Linear<2>> {};
static_assert(Mlp::parameter_count == 4 * 2 + 2);

#ifdef WITH_HDF5
#include <phyllo/data/hdf5_source.hpp>

bool refuses_absent_file() {
  try {
    phyllo::Hdf5Source const source("absent.h5", {"x"});
  } catch (phyllo::Error const&) {
    return true;
  }
  return false;
}
#endif

int main(int argc, char** argv) {
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
#endif
  int cells = 0;
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    std::puts(to_string(phyllo::build_info()).c_str());
    Kokkos::parallel_reduce("cells", 8, KOKKOS_LAMBDA(int, int& sum) { ++sum; }, cells);
  }
#ifdef WITH_MPI
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Finalize();
  cells *= ranks;
#endif
#ifdef WITH_HDF5
  if (!refuses_absent_file()) return 1;
#endif
  return cells == 8 ? 0 : 1;
}
