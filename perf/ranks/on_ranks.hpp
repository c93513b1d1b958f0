// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>
#include <Kokkos_Core.hpp>

#include <cstdio>
#include <exception>

namespace perf {

/// The main of a program on the ranks of MPI_COMM_WORLD: what `run` returns, between the beginning
/// and the end of MPI and Kokkos. An exception ends all ranks.
template <class Run> int on_ranks(int argc, char* argv[], Run const& run) {
  int thread_support = 0, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_support);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    try {
      status = run(argc, argv);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "perf: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}

}  // namespace perf
