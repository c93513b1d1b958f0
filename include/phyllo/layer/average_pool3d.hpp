// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/pooling.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over a window in 3 spatial dimensions; options, numerics and cost as Pooling's.
///
/// shape    (N, C, D, H, W) -> (N, C, D', H', W')
/// options  Stride<Size> · Padding<0>
/// errors   compile: another spatial rank; a window larger than the padded input
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Size, class... Options>
struct AveragePool3d : Pooling<3, op::PoolingKind::average, Size, Options...> {
  static constexpr char const* name = "average_pool3d";
};

}  // namespace phyllo::inline PHYLLO_ISA
