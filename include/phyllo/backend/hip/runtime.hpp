// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/launch/resident_blocks.hpp>
#include <phyllo/backend/gpu/launch/team.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>

// A launch is the GPU compiler's own syntax.
#if defined(__HIPCC__)

namespace phyllo::inline PHYLLO_ISA::hip {

/// A kernel of backend/gpu on AMD devices.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, 2) run_team(Kernel const kernel) {
  extern __shared__ uint4 scratch[];
  kernel(gpu::Team<Kernel::warps, Kernel::threads / Kernel::warps>{
      reinterpret_cast<std::byte*>(scratch)});
}

/// How AMD's runtime launches: see gpu::Launcher.
struct Runtime {
  using space = Kokkos::HIP;
  using Status = hipError_t;
  static constexpr char const* backend = "HipBackend";
  static constexpr char const* one_by_one = "AMD_SERIALIZE_KERNEL=3";
  static constexpr Status success = hipSuccess;

  static std::string device(space const& exec) {
    auto const& device = exec.hip_device_prop();
    return std::string(device.name) + " (" + device.gcnArchName + ")";
  }
  static int multiprocessors(space const& exec) {
    return exec.hip_device_prop().multiProcessorCount;
  }
  /// That a block can have.
  static long scratch_bytes(space const& exec) {
    return long(exec.hip_device_prop().sharedMemPerBlock);
  }
  /// How many blocks run on a multiprocessor at a time. What follows is about the instance's
  /// device.
  template <class Kernel> static Status prepare(space const& exec, int& resident) {
    static gpu::ResidentBlocks known;
    Status status = hipSetDevice(exec.hip_device());
    resident = known.of(exec.hip_device());
    if (status != hipSuccess || resident >= 0) return forgotten(status);
    status = hipOccupancyMaxActiveBlocksPerMultiprocessor(&resident, run_team<Kernel>,
                                                          Kernel::threads, Kernel::scratch_bytes);
    if (status == hipSuccess) known.set(exec.hip_device(), resident);
    return forgotten(status);
  }
  template <class Kernel>
  static Status launch(space const& exec, Kernel const& kernel, int blocks) {
    run_team<<<unsigned(blocks), Kernel::threads, Kernel::scratch_bytes, exec.hip_stream()>>>(
        kernel);
    return hipGetLastError();
  }

  static char const* text(Status status) { return hipGetErrorString(status); }
  static bool lacks_instructions(Status status) {
    return status == hipErrorNoBinaryForGpu || status == hipErrorInvalidDeviceFunction;
  }
  static bool lacks_room(Status status) { return status == hipErrorLaunchOutOfResources; }

 private:
  // What has been told is not told again by the next launch.
  static Status forgotten(Status status) {
    if (status != hipSuccess) static_cast<void>(hipGetLastError());
    return status;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::hip

#endif
