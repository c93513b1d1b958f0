// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/attention.hpp>
#include <phyllo/backend/reference/contraction.hpp>
#include <phyllo/backend/reference/fourier.hpp>
#include <phyllo/backend/reference/general_convolution.hpp>
#include <phyllo/backend/reference/group_normalization.hpp>
#include <phyllo/backend/reference/local_response.hpp>
#include <phyllo/backend/reference/lookup.hpp>
#include <phyllo/backend/reference/loss.hpp>
#include <phyllo/backend/reference/map.hpp>
#include <phyllo/backend/reference/move.hpp>
#include <phyllo/backend/reference/movement.hpp>
#include <phyllo/backend/reference/normalization.hpp>
#include <phyllo/backend/reference/pointwise.hpp>
#include <phyllo/backend/reference/pooling.hpp>
#include <phyllo/backend/reference/position.hpp>
#include <phyllo/backend/reference/product.hpp>
#include <phyllo/backend/reference/reduction.hpp>
#include <phyllo/backend/reference/resample.hpp>
#include <phyllo/backend/reference/row.hpp>
#include <phyllo/backend/reference/scan.hpp>
#include <phyllo/backend/reference/segment.hpp>
#include <phyllo/backend/reference/segment_backward.hpp>
#include <phyllo/backend/reference/sparse_product.hpp>
#include <phyllo/backend/reference/spectral_product.hpp>
#include <phyllo/backend/reference/unpooling.hpp>
#include <phyllo/op/segment_limits.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Plain loops for hosts: Execution<Space, Backends<ReferenceBackend>> runs a whole model on them.
struct ReferenceBackend {
  static constexpr char const* name = "reference";
  static constexpr SegmentLimits segment_limits = {.backend = name,
                                                   .widest = 128,
                                                   .fewest_layers = 2,
                                                   .most_layers = 16,
                                                   .most_parameters = 160 * 1024,
                                                   .row_norms = true,
                                                   .trains = true,
                                                   .whole_steps = true,
                                                   .fills_devices = true};
  template <class Op, class Precision> using kernels = reference::Kernels<Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
