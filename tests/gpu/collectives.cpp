// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take where MPI and the vendor's collectives are installed: training over
// each transport.

#if __has_include(<mpi.h>)
#include <phyllo/comm/gpu_aware_mpi.hpp>
#include <phyllo/comm/mpi.hpp>
#if defined(__CUDACC__) && __has_include(<nccl.h>)
#include <phyllo/backend/cuda/nccl_runtime.hpp>
#include <phyllo/comm/nccl/nccl_sums.hpp>
#elif defined(__HIPCC__) && __has_include(<rccl/rccl.h>)
#include <phyllo/backend/hip/rccl_runtime.hpp>
#include <phyllo/comm/nccl/nccl_sums.hpp>
#endif
#include <phyllo/phyllo.hpp>

struct GpuRanks
    : phyllo::Network<phyllo::Input<16>, phyllo::Linear<64>, phyllo::ReLU, phyllo::Linear<16>> {};

template <class T> void train_on_ranks(MPI_Comm communicator) {
  static_assert(phyllo::Transport<T>);
  Kokkos::DefaultExecutionSpace const exec;
  phyllo::Trainer<GpuRanks, phyllo::MeanSquaredError, phyllo::Sgd, phyllo::Full<float>,
                  phyllo::AllReduce<T>>
      trainer(exec, communicator, phyllo::Sgd{}, {.batch = 8});
  Kokkos::View<float**> const inputs("inputs", 8, 16), targets("targets", 8, 16);
  trainer.step(inputs, targets);
  trainer.capture(inputs, targets).replay();
  trainer.progress();
}

void gpu_collectives(MPI_Comm communicator) {
  train_on_ranks<phyllo::Mpi>(communicator);
  train_on_ranks<phyllo::GpuAwareMpi>(communicator);
#if defined(__CUDACC__) && defined(NCCL_MAJOR)
  train_on_ranks<phyllo::Nccl>(communicator);
#elif defined(__HIPCC__) && defined(NCCL_MAJOR)
  train_on_ranks<phyllo::Rccl>(communicator);
#endif
}
#endif
