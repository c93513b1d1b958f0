// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace perf {

/// What this rank has given to MPI, counted in MPI's profiling interface. What MPI's own sums send
/// inside is not seen.
struct CountedMpi {
  long messages = 0;  // MPI_Isend
  long calls = 0;     // MPI_Allreduce, blocking
  long bytes = 0;     // of both
};
inline CountedMpi counted_mpi;

}  // namespace perf
