// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sums of one training step by the library's own transport and messages, for SimGrid's MPI
// (SMPI), whose trace says which they are.

#include <mpi.h>

// What SMPI lacks (SimGrid 4.1): MPI_Comm_idup is declared only, and MPI_Test never says that no
// request is done.
static int comm_idup(MPI_Comm communicator, MPI_Comm* copy, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  return MPI_Comm_dup(communicator, copy);
}
static int request_test(MPI_Request* request, int* done, MPI_Status* status) {
  if (*request != MPI_REQUEST_NULL) return MPI_Test(request, done, status);
  *done = 1;
  return MPI_SUCCESS;
}
#undef MPI_Comm_idup
#undef MPI_Test
#define MPI_Comm_idup comm_idup
#define MPI_Test request_test

#include "schedule.hpp"

#include <phyllo/comm/mpi.hpp>

#include <cstring>
#include <vector>

namespace {

template <class Net> void step(phyllo::Mpi& mpi) {
  Kokkos::DefaultHostExecutionSpace const exec;
  constexpr perf::Schedule<Net> schedule;
  for (int k = 0; k < schedule.count; ++k) {
    long const count = schedule.bytes[k] / long(sizeof(float));
    std::vector<float> gradients(std::size_t(count), 1.0f);
    mpi.sum(exec, gradients.data(), count);
    if (gradients.back() != float(mpi.size())) MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  // SMPI's ranks are threads of one process and share Kokkos.
  if (!Kokkos::is_initialized()) Kokkos::initialize();
  {
    phyllo::Mpi mpi(MPI_COMM_WORLD, {.timeout = 0});  // no roll call
    if (argc > 1 && std::strcmp(argv[1], "lenet") == 0) step<perf::LeNet>(mpi);
    if (argc > 1 && std::strcmp(argv[1], "wide-mlp") == 0) step<perf::WideMlp>(mpi);
  }
  MPI_Finalize();
}
