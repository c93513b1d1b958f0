// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

namespace perf {

/// MPI's own blocking sum over all ranks, what a program without Phyllo calls.
inline void all_reduce(float* data, long count) {
  MPI_Allreduce(MPI_IN_PLACE, data, int(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace perf
