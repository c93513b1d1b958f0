// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/convolution.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Convolution in 1 spatial dimension; options, numerics and cost as Convolution's.
///
/// shape    (N, C, L) -> (N, Out, L')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true>
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv1d : Convolution<1, Out, Options...> {
  static constexpr char const* name = "conv1d";
};

}  // namespace phyllo::inline PHYLLO_ISA
