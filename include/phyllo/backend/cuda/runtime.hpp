// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/launch/resident_blocks.hpp>
#include <phyllo/backend/gpu/launch/team.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>

// A launch is the GPU compiler's own syntax.
#if defined(__CUDACC__)

namespace phyllo::inline PHYLLO_ISA::cuda {

/// A kernel of backend/gpu on NVIDIA devices.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads) run_team(__grid_constant__ Kernel const kernel) {
  extern __shared__ uint4 scratch[];
  kernel(gpu::Team<Kernel::warps, Kernel::threads / Kernel::warps>{
      reinterpret_cast<std::byte*>(scratch)});
}

/// How NVIDIA's runtime launches: see gpu::Launcher.
struct Runtime {
  using space = Kokkos::Cuda;
  using Status = cudaError_t;
  static constexpr char const* backend = "CudaBackend";
  static constexpr char const* one_by_one = "CUDA_LAUNCH_BLOCKING=1";
  static constexpr Status success = cudaSuccess;

  static std::string device(space const& exec) {
    auto const& device = exec.cuda_device_prop();
    return std::string(device.name) + " (sm_" + std::to_string(10 * device.major + device.minor) +
           ")";
  }
  static int multiprocessors(space const& exec) {
    return exec.cuda_device_prop().multiProcessorCount;
  }
  /// That a block can have.
  static long scratch_bytes(space const& exec) {
    return long(exec.cuda_device_prop().sharedMemPerBlockOptin);
  }
  /// How many blocks run on a multiprocessor at a time. What follows is about the instance's
  /// device.
  template <class Kernel> static Status prepare(space const& exec, int& resident) {
    static gpu::ResidentBlocks known;
    Status status = cudaSetDevice(exec.cuda_device());
    resident = known.of(exec.cuda_device());
    if (status != cudaSuccess || resident >= 0) return forgotten(status);
    status = cudaFuncSetAttribute(run_team<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  Kernel::scratch_bytes);
    if (status == cudaSuccess)
      status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &resident, run_team<Kernel>, Kernel::threads, Kernel::scratch_bytes);
    if (status == cudaSuccess) known.set(exec.cuda_device(), resident);
    return forgotten(status);
  }
  template <class Kernel>
  static Status launch(space const& exec, Kernel const& kernel, int blocks) {
    run_team<<<unsigned(blocks), Kernel::threads, Kernel::scratch_bytes, exec.cuda_stream()>>>(
        kernel);
    return cudaGetLastError();
  }

  static char const* text(Status status) { return cudaGetErrorString(status); }
  static bool lacks_instructions(Status status) {
    return status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
           status == cudaErrorUnsupportedPtxVersion;
  }
  static bool lacks_room(Status status) { return status == cudaErrorLaunchOutOfResources; }

 private:
  // What has been told is not told again by the next launch.
  static Status forgotten(Status status) {
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
    return status;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda

#endif
