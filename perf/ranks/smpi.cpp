// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sums of one training step by the library's own transport, for SimGrid's MPI (SMPI), whose
// trace says which messages they take. The sums block: those of SMPI's MPI_Iallreduce are wrong in
// place (SimGrid 4.1).

#include "schedule.hpp"

#include <phyllo/comm/mpi.hpp>

#include <cstring>

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
    // Our own messages would be moved on by ranks that share their lists.
    phyllo::Mpi mpi(MPI_COMM_WORLD, {.library_sums = true, .timeout = 0});
    if (argc > 1 && std::strcmp(argv[1], "lenet") == 0) step<perf::LeNet>(mpi);
    if (argc > 1 && std::strcmp(argv[1], "wide-mlp") == 0) step<perf::WideMlp>(mpi);
  }
  MPI_Finalize();
}
