// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#if defined(__HIPCC__)

namespace phyllo::inline PHYLLO_ISA::hip {

/// How AMD's runtime records a stream: see gpu::RecordedWork. Each call gives no text, or that of
/// the runtime's refusal.
struct Recording {
  using space = Kokkos::HIP;
  using Graph = hipGraph_t;
  using Executable = hipGraphExec_t;

  // Other threads of the program may allocate meanwhile.
  static char const* begin(space const& exec) {
    return text(hipStreamBeginCapture(exec.hip_stream(), hipStreamCaptureModeThreadLocal));
  }
  static char const* end(space const& exec, Graph& graph) {
    return text(hipStreamEndCapture(exec.hip_stream(), &graph));
  }
  static char const* instantiate(Graph graph, Executable& executable) {
    return text(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  }
  static char const* launch(Executable executable, space const& exec) {
    return text(hipGraphLaunch(executable, exec.hip_stream()));
  }
  static void destroy(Graph graph) { static_cast<void>(hipGraphDestroy(graph)); }
  static void destroy(Executable executable) { static_cast<void>(hipGraphExecDestroy(executable)); }

 private:
  static char const* text(hipError_t result) {
    return result == hipSuccess ? nullptr : hipGetErrorString(result);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::hip

#endif
