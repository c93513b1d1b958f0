// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "counted_mpi.hpp"

#include <mpi.h>

namespace {
void count(int elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  ++perf::counted_mpi.calls;
  perf::counted_mpi.bytes += long(elements) * size;
}
}  // namespace

extern "C" {

int MPI_Allreduce(void const* in, void* out, int elements, MPI_Datatype type, MPI_Op op,
                  MPI_Comm communicator) {
  count(elements, type);
  return PMPI_Allreduce(in, out, elements, type, op, communicator);
}

int MPI_Iallreduce(void const* in, void* out, int elements, MPI_Datatype type, MPI_Op op,
                   MPI_Comm communicator, MPI_Request* request) {
  count(elements, type);
  return PMPI_Iallreduce(in, out, elements, type, op, communicator, request);
}

}  // extern "C"
