// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/recorder.hpp>
#include <phyllo/op/kernel_traits.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include <phyllo/backend/cuda/recording.hpp>
#include <phyllo/backend/gpu/launch/recorded_work.hpp>

namespace phyllo::inline PHYLLO_ISA {

template <> struct Recorder<Kokkos::Cuda> {
  using type = gpu::RecordedWork<cuda::Recording>;
};

}  // namespace phyllo::inline PHYLLO_ISA

// Matrix instructions: sm_80 and newer.
#if !defined(KOKKOS_ARCH_PASCAL) && !defined(KOKKOS_ARCH_VOLTA) && !defined(KOKKOS_ARCH_TURING75)
#define PHYLLO_HAS_CUDA_BACKEND
#include <phyllo/backend/cuda/device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Kernels for NVIDIA devices: segments in the registers of warps, by matrix instructions.
struct CudaBackend {
  static constexpr char const* name = "cuda";
  template <class Space> static constexpr bool serves = std::is_same_v<Space, Kokkos::Cuda>;
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in =
      gpu::segment_limits<cuda::Device, Precision>(name);
  template <class Op, class Precision> using kernels = gpu::Kernels<cuda::Device, Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
#endif
#endif

#if defined(PHYLLO_HAS_CUDA_BACKEND) && defined(PHYLLO_ENABLE_CUBLASLT)
#define PHYLLO_HAS_CUBLASLT_BACKEND
#include <phyllo/backend/blas_lt/contraction.hpp>
#include <phyllo/backend/cuda/cublas_lt.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Wide layers of 16 bits by NVIDIA's library, the others by backend cuda; the component
/// phyllo::cublaslt. Sums in the order of the algorithm that the library chooses.
struct CublasLtBackend {
  static constexpr char const* name = "cublaslt";
  template <class Space> static constexpr bool serves = std::is_same_v<Space, Kokkos::Cuda>;
  static constexpr BackendTraits traits = {.reproducible = false};
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in = CudaBackend::segment_limits_in<Precision>;
  template <class Op, class Precision>
  using kernels = blas_lt::Kernels<cuda::CublasLt, cuda::Device, Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
#endif
