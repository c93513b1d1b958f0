// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/in_order.hpp>
#include <phyllo/op/segment_limits.hpp>

#include <Kokkos_Core.hpp>

// Exists in every program whose host code is compiled by GCC or Clang: vector types, intrinsics.
#if defined(__GNUC__) && (defined(KOKKOS_ENABLE_OPENMP) || defined(KOKKOS_ENABLE_SERIAL))
#define PHYLLO_HAS_HOST_BACKEND
#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675  // PHYLLO_UNROLL_ON_HOST
#include <phyllo/backend/host/host.hpp>
#pragma nv_diagnostic pop
#else
#include <phyllo/backend/host/host.hpp>
#endif

namespace phyllo::inline PHYLLO_ISA {

#if defined(KOKKOS_ENABLE_OPENMP)
template <> inline constexpr bool in_order<Kokkos::OpenMP> = true;
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
template <> inline constexpr bool in_order<Kokkos::Serial> = true;
#endif

/// Kernels for processors: segments and whole steps tile by tile in vector registers. Its name is
/// that of the space that it was written for; it serves Kokkos' Serial and Threads as well.
struct HostBackend {
  static constexpr char const* name = "openmp";
  template <class Space> static constexpr bool serves = in_order<Space>;
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in = [] {
    SegmentLimits limits = UsualLimits::value;
    // Products of pairs are faster than the passes that are saved.
    limits.batch_normalizations =
        std::is_same_v<typename Precision::storage, typename Precision::accumulate>;
#if defined(__NVCC__)  // it ends with a segmentation fault in segments of images
    limits.windows = false;
#endif
    return limits;
  }();
  template <class Op, class Precision> using kernels = host::Kernels<Op, Precision>;
};
using OpenMpBackend = HostBackend;

}  // namespace phyllo::inline PHYLLO_ISA
#endif
