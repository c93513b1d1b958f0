// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/backend.hpp>
#include <phyllo/op/kernel_traits.hpp>

// Exists beside the backend for processors, with the component phyllo::onednn; not in programs of
// GPUs.
#if defined(PHYLLO_HAS_HOST_BACKEND) && defined(PHYLLO_ENABLE_ONEDNN) && !defined(__CUDACC__) && \
    !defined(__HIPCC__)
#define PHYLLO_HAS_ONEDNN_BACKEND
#include <phyllo/backend/onednn/contraction.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Wide layers by the library oneDNN where that is faster, else by backend openmp; the component
/// phyllo::onednn. Sums depend on the number of threads.
struct OneDnnBackend {
  static constexpr char const* name = "onednn";
  template <class Space> static constexpr bool serves = HostBackend::serves<Space>;
  static constexpr BackendTraits traits = {.reproducible = false};
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in = HostBackend::segment_limits_in<Precision>;
  template <class Op, class Precision> using kernels = onednn::Kernels<Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
#endif
