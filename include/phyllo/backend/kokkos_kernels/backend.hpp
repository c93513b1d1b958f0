// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>
#include <phyllo/op/kernel_traits.hpp>

// Exists with the component phyllo::kokkos_kernels.
#if defined(PHYLLO_ENABLE_KOKKOS_KERNELS)
#define PHYLLO_HAS_KOKKOS_KERNELS_BACKEND
#include <phyllo/backend/kokkos_kernels/contraction.hpp>
#include <phyllo/backend/kokkos_kernels/sparse_product.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// On devices, wide layers in double and products with sparse matrices by Kokkos Kernels, the
/// others by backend portable; the component phyllo::kokkos_kernels. Sums in the order of the
/// library. Not on processors: docs/05_build.md has what was measured.
struct KokkosKernelsBackend {
  static constexpr char const* name = "kokkos_kernels";
  template <class Space> static constexpr bool serves = !is_processor<Space>;
  static constexpr BackendTraits traits = {.reproducible = false};
  template <class Op, class Precision> using kernels = kokkos_kernels::Kernels<Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
#endif
