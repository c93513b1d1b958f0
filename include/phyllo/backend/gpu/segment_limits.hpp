// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/segment/segment.hpp>
#include <phyllo/op/segment_limits.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// The segments that matrix cores run: perceptrons whose values stay in the registers of a warp, 16
/// samples of at most 128 channels, with the weights of one layer or more in a block's scratch
/// memory. Weights are read once for a block, from the second-level cache of the device. None in
/// precisions without matrix instructions.
template <class Device, class P> constexpr SegmentLimits segment_limits(char const* backend) {
  if constexpr (!has_instruction<P>) {
    return {.backend = backend};
  } else {
    using MmaAtom = typename Device::template MmaAtom<typename P::storage>;
    static_assert(MmaAtom::blocks * MmaAtom::lanes * 4 == 16 * 16,
                  "the fragments of all lanes are 16 inputs by 16 outputs, without padding");
    return {.backend = backend,
            .widest = 128,
            .fewest_layers = 2,
            .most_layers = 16,
            .most_parameters = 160 * 1024,
            .trains = true,
            .whole_steps = true,
            .fills_devices = true,
            .scratch = {.bytes = MmaAtom::scratch_budget,
                        .group = 16,
                        .weight_bytes = int(sizeof(typename MmaAtom::storage)),
                        .bias_bytes = int(sizeof(float))}};
  }
}

}  // namespace phyllo::inline PHYLLO_ISA::gpu
