// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "counted_mpi.hpp"

#include <mpi.h>

namespace {
void count(int elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  ++perf::counted_mpi.messages;
  perf::counted_mpi.bytes += long(elements) * size;
}
}  // namespace

extern "C" {

int MPI_Isend(void const* data, int elements, MPI_Datatype type, int to, int tag,
              MPI_Comm communicator, MPI_Request* request) {
  count(elements, type);
  return PMPI_Isend(data, elements, type, to, tag, communicator, request);
}

}  // extern "C"
