// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/mma_float.hpp>
#include <phyllo/backend/cuda/wgmma_weights.hpp>
#include <phyllo/backend/gpu/team.hpp>
#include <phyllo/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

// A launch is the GPU compiler's own syntax.
#if defined(__CUDACC__)

namespace phyllo::cuda {

/// A kernel of backend/gpu on NVIDIA devices. Kokkos' team policies stop at about 40 KiB of scratch
/// memory and 512 bytes of functor; a kernel launched by itself has what the device has.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads) run_team(__grid_constant__ Kernel const kernel) {
  extern __shared__ uint4 scratch[];
  kernel(gpu::Team<Kernel::warps, Kernel::threads / Kernel::warps>{
      reinterpret_cast<std::byte*>(scratch)});
}

/// How kernels are launched.
struct Device {
  template <class Storage> using Unit = Mma<Storage>;
#if defined(PHYLLO_ENABLE_WGMMA)
  /// Of an H100: 600 TFLOP/s by mma.sync over 3 TB/s. Not measured.
  static constexpr long compute_bound_intensity = 200;
  template <class Storage>
    requires(sizeof(Storage) == 2)
  using ComputeBoundUnit = Wgmma<Storage>;
#endif

  static int multiprocessors(Kokkos::Cuda const& exec) {
    return exec.cuda_device_prop().multiProcessorCount;
  }

  /// At most `blocks` blocks, and no more than run at a time: each takes more than one tile then.
  template <class Kernel>
  static int launch(Kokkos::Cuda const& exec, std::string const& label, Kernel const& kernel,
                    long blocks) {
    static_assert(sizeof(Kernel) <= 2048, "a kernel's arguments are read by all its threads");
    auto const& device = exec.cuda_device_prop();
    if (long(device.sharedMemPerBlockOptin) < Kernel::scratch_bytes)
      throw Error(label + ": the kernel takes " + std::to_string(Kernel::scratch_bytes) +
                  " bytes of scratch memory for a block, and " + device.name + " has " +
                  std::to_string(device.sharedMemPerBlockOptin) +
                  ". Configure Kokkos for the architecture of this device.");
    int resident = 0;
    check(label, cudaFuncSetAttribute(run_team<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      Kernel::scratch_bytes));
    check(label, cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                     &resident, run_team<Kernel>, Kernel::threads, Kernel::scratch_bytes));
    long const most = long(resident) * device.multiProcessorCount;
    std::uint64_t id = 0;
    bool const profiles = Kokkos::Tools::profileLibraryLoaded();
    if (profiles)
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
    int const count = int(blocks < most ? blocks : most);
    run_team<<<unsigned(count), Kernel::threads, Kernel::scratch_bytes, exec.cuda_stream()>>>(
        kernel);
    if (profiles) Kokkos::Tools::endParallelFor(id);
    check(label, cudaGetLastError());
    return count;
  }

 private:
  static void check(std::string const& label, cudaError_t result) {
    if (result != cudaSuccess)
      throw Error(label + ": the device could not start this kernel (" +
                  cudaGetErrorString(result) + ").");
  }
};

}  // namespace phyllo::cuda

#endif
