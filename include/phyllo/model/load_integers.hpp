// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/shape.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// The caller's integers as 32 bits; those beyond become -1, which no table has. Per element: there
/// are few beside the numbers that they stand for.
///
/// shape    external (N, C, D, H, W) -> slot (N, S, C)
struct LoadIntegers {
  Shape shape;
  ExternalTensor source;
  std::int32_t* slot = nullptr;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % shape.channels);
    int const p = int(at / shape.channels % shape.positions());
    int const h = shape.spatial[1], w = shape.spatial[2];
    auto const x =
        source.template read<std::int64_t>(at / shape.size(), c, p / (h * w), p / w % h, p % w);
    slot[at] = x == std::int64_t(std::int32_t(x)) ? std::int32_t(x) : -1;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
