// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

namespace perf {

#if MPI_VERSION >= 4
/// MPI's own sum over all ranks as a persistent operation, planned once and started many times.
///
/// state    data stay where they are; freed before MPI_Finalize
class PersistentSum {
 public:
  PersistentSum(float* data, long count) {
    MPI_Allreduce_init(MPI_IN_PLACE, data, int(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request_);
  }
  PersistentSum(PersistentSum const&) = delete;
  ~PersistentSum() { MPI_Request_free(&request_); }

  void run() {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};
#endif

}  // namespace perf
