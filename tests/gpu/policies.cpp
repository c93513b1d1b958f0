// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take where MPI is installed: the kernels of every communication policy,
// in training of a network with running statistics, in a precision that scales the loss and keeps
// unrounded weights.

#if __has_include(<mpi.h>)
#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/asynchronous.hpp>
#include <phyllo/comm/gpu_aware_mpi.hpp>
#include <phyllo/comm/groups.hpp>
#include <phyllo/comm/hierarchical.hpp>
#include <phyllo/comm/lag.hpp>
#include <phyllo/comm/local_sgd.hpp>
#include <phyllo/comm/mpi.hpp>
#include <phyllo/comm/sharded.hpp>
#include <phyllo/comm/tree_reduce.hpp>
#include <phyllo/comm/wire.hpp>
#if defined(__CUDACC__) && __has_include(<nccl.h>)
#include <phyllo/backend/cuda/nccl_runtime.hpp>
#include <phyllo/comm/nccl/nccl_sums.hpp>
#elif defined(__HIPCC__) && __has_include(<rccl/rccl.h>)
#include <phyllo/backend/hip/rccl_runtime.hpp>
#include <phyllo/comm/nccl/nccl_sums.hpp>
#endif
#include <phyllo/phyllo.hpp>

namespace phyllo_gpu {

using namespace phyllo;

struct PolicyNet : Network<Input<8>, Linear<16>, BatchNorm<>, ReLU, Linear<4>> {};

template <class C, class P = Mixed<fp16, float>, class Exec = Execution<>>
void train_under(MPI_Comm communicator) {
  typename Exec::space const exec;
  Trainer<PolicyNet, MeanSquaredError, Sgd, P, C, Exec> trainer(
      exec, communicator, Sgd{.momentum = 0.5f}, {.batch = 8});
  Kokkos::View<float**> const inputs("inputs", 8, 8), targets("targets", 8, 4);
  for (int s = 0; s < 3; ++s) trainer.step(inputs, targets);
  trainer.progress();
  trainer.synchronize();
}

void gpu_policies(MPI_Comm communicator) {
  train_under<AllReduce<Mpi>>(communicator);
  train_under<AllReduce<Wire<bf16, Mpi>>>(communicator);
  train_under<Hierarchical<Mpi, Wire<fp16, Mpi>>>(communicator);
  train_under<Lag<1, Hierarchical<Mpi>>>(communicator);
  train_under<Sharded<AllReduce<Mpi>>>(communicator);
  train_under<LocalSgd<4, Mpi>>(communicator);
  train_under<Groups<2, AllReduce<Mpi>, Asynchronous<4, AllReduce<Mpi>>>>(communicator);
  // What this transport does otherwise: it splits into others of its kind.
  train_under<Hierarchical<GpuAwareMpi, Wire<fp16, GpuAwareMpi>>>(communicator);
  train_under<Groups<2, AllReduce<GpuAwareMpi>, LocalSgd<4, GpuAwareMpi>>>(communicator);
#if defined(NCCL_MAJOR)
#if defined(__CUDACC__)
  using Collectives = Nccl;
#else
  using Collectives = Rccl;
#endif
  train_under<Lag<1, AllReduce<Collectives>>>(communicator);
  train_under<LocalSgd<when_asked, Collectives>>(communicator);
  train_under<Asynchronous<4, AllReduce<Collectives>>>(communicator);
#endif
  using Bits = Execution<Kokkos::DefaultExecutionSpace, Execution<>::backends, FusionLevel::tile,
                         Reproducible<>>;
  train_under<TreeReduce<Mpi>, Mixed<fp16, float>, Bits>(communicator);
}

}  // namespace phyllo_gpu
#endif
