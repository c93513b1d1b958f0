// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>

#include <oneapi/dnnl/dnnl.hpp>

namespace phyllo::inline PHYLLO_ISA::onednn {

/// The function that oneDNN applies to the sums of a product, where a chain is one that it has. The
/// rectifier is not among them: oneDNN's makes zero of a NaN, and a step would go on with lost
/// numbers.
template <class Chain>
inline constexpr dnnl::algorithm activation =
    Chain::activation == Activation::hyperbolic_tangent ? dnnl::algorithm::eltwise_tanh
    : Chain::activation == Activation::logistic         ? dnnl::algorithm::eltwise_logistic
    : Chain::activation == Activation::gelu             ? dnnl::algorithm::eltwise_gelu_erf
                                                        : dnnl::algorithm::undef;

}  // namespace phyllo::inline PHYLLO_ISA::onednn
