// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/portable.hpp>
#include <phyllo/op/segment_limits.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Kernels in Kokkos only; runs wherever Kokkos does.
struct PortableBackend {
  static constexpr char const* name = "portable";
  template <class Space> static constexpr bool serves = true;
  /// A thread holds the values of a sample; weights stay in a core's second-level cache. A whole
  /// step has op::WholeStep::blocks work items, too few for a device.
  static constexpr SegmentLimits segment_limits = {.backend = name,
                                                   .widest = 128,
                                                   .fewest_layers = 2,
                                                   .most_layers = 16,
                                                   .most_parameters = 160 * 1024,
                                                   .trains = true,
                                                   .whole_steps = true};
  template <class Op, class Precision> using kernels = portable::Kernels<Op, Precision>;
};

}  // namespace phyllo::inline PHYLLO_ISA
