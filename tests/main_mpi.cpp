// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <mpi.h>
#include <Kokkos_Core.hpp>

#include <cstdio>

// Every rank runs the same cases; the whole run fails where one rank fails, whichever it was.
// Rank 0 writes the summary, and the others only what fails.
int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int failed = provided < MPI_THREAD_FUNNELED ? 1 : 0;
  if (failed != 0) std::fprintf(stderr, "rank %d: this MPI has no MPI_THREAD_FUNNELED.\n", rank);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    doctest::Context context;
    context.setOption("minimal", rank != 0);
    context.setOption("no-colors", rank != 0);
    context.applyCommandLine(argc, argv);
    if (context.run() != 0) {
      failed = 1;
      std::fprintf(stderr, "rank %d failed.\n", rank);
    }
  }
  int failed_anywhere = 0;
  MPI_Allreduce(&failed, &failed_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed_anywhere;
}
