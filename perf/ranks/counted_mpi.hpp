// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace perf {

/// What this rank has sent by messages of its own, counted in MPI's profiling interface.
struct CountedMpi {
  long messages = 0;
  long bytes = 0;
};
inline CountedMpi counted_mpi;

}  // namespace perf
