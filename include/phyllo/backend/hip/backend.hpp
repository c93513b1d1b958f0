// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/recorder.hpp>
#include <phyllo/op/kernel_traits.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

#if defined(KOKKOS_ENABLE_HIP) && defined(__HIPCC__)
#include <phyllo/backend/gpu/launch/recorded_work.hpp>
#include <phyllo/backend/hip/recording.hpp>

namespace phyllo::inline PHYLLO_ISA {

template <> struct Recorder<Kokkos::HIP> {
  using type = gpu::RecordedWork<hip::Recording>;
};

}  // namespace phyllo::inline PHYLLO_ISA

// Matrix instructions: gfx90a and newer.
#if defined(KOKKOS_ARCH_AMD_GFX90A) || defined(KOKKOS_ARCH_AMD_GFX940) ||     \
    defined(KOKKOS_ARCH_AMD_GFX942) || defined(KOKKOS_ARCH_AMD_GFX942_APU) || \
    defined(KOKKOS_ARCH_AMD_GFX950)
#define PHYLLO_HAS_HIP_BACKEND
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/backend/hip/device.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Kernels for AMD devices: segments in the registers of wavefronts, by matrix instructions.
struct HipBackend {
  static constexpr char const* name = "hip";
  template <class Space> static constexpr bool serves = std::is_same_v<Space, Kokkos::HIP>;
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in =
      gpu::segment_limits<hip::Device, Precision>(name);
  template <class Op, class Precision> using kernels = gpu::Kernels<hip::Device, Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
#endif
#endif

#if defined(PHYLLO_HAS_HIP_BACKEND) && defined(PHYLLO_ENABLE_HIPBLASLT)
#define PHYLLO_HAS_HIPBLASLT_BACKEND
#include <phyllo/backend/blas_lt/contraction.hpp>
#include <phyllo/backend/hip/hipblas_lt.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The same by AMD's library; the component phyllo::hipblaslt.
struct HipblasLtBackend {
  static constexpr char const* name = "hipblaslt";
  template <class Space> static constexpr bool serves = std::is_same_v<Space, Kokkos::HIP>;
  static constexpr BackendTraits traits = {.reproducible = false};
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in = HipBackend::segment_limits_in<Precision>;
  template <class Op, class Precision>
  using kernels = blas_lt::Kernels<hip::HipblasLt, hip::Device, Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
#endif
