// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/convolution.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Convolution in 2 spatial dimensions; options, numerics and cost as Convolution's.
///
/// shape    (N, C, H, W) -> (N, Out, H', W')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true>
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv2d : Convolution<2, Out, Options...> {
  static constexpr char const* name = "conv2d";
};

}  // namespace phyllo::inline PHYLLO_ISA
