// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "counted_mpi.hpp"

#include <mpi.h>

namespace {
long bytes_of(int elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return long(elements) * size;
}
}  // namespace

extern "C" {

int MPI_Isend(void const* data, int elements, MPI_Datatype type, int to, int tag,
              MPI_Comm communicator, MPI_Request* request) {
  ++perf::counted_mpi.messages;
  perf::counted_mpi.bytes += bytes_of(elements, type);
  return PMPI_Isend(data, elements, type, to, tag, communicator, request);
}

int MPI_Allreduce(void const* data, void* sum, int elements, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator) {
  ++perf::counted_mpi.calls;
  perf::counted_mpi.bytes += bytes_of(elements, type);
  return PMPI_Allreduce(data, sum, elements, type, operation, communicator);
}

}  // extern "C"
