// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#if defined(__CUDACC__)

namespace phyllo::inline PHYLLO_ISA::cuda {

/// How NVIDIA's runtime records a stream: see gpu::RecordedWork. Each call gives no text, or that
/// of the runtime's refusal.
struct Recording {
  using space = Kokkos::Cuda;
  using Graph = cudaGraph_t;
  using Executable = cudaGraphExec_t;

  // Other threads of the program may allocate meanwhile.
  static char const* begin(space const& exec) {
    return text(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal));
  }
  static char const* end(space const& exec, Graph& graph) {
    return text(cudaStreamEndCapture(exec.cuda_stream(), &graph));
  }
  static char const* instantiate(Graph graph, Executable& executable) {
    return text(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  }
  static char const* launch(Executable executable, space const& exec) {
    return text(cudaGraphLaunch(executable, exec.cuda_stream()));
  }
  static void destroy(Graph graph) { static_cast<void>(cudaGraphDestroy(graph)); }
  static void destroy(Executable executable) {
    static_cast<void>(cudaGraphExecDestroy(executable));
  }

 private:
  static char const* text(cudaError_t result) {
    return result == cudaSuccess ? nullptr : cudaGetErrorString(result);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda

#endif
