// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fwd.hpp>
#include <phyllo/op/chain.hpp>

#include <oneapi/dnnl/dnnl.hpp>

namespace phyllo::inline PHYLLO_ISA::onednn {

/// The function that oneDNN applies to the sums of a product, where a chain is one that it has.
/// ReLU is not among them: oneDNN's makes zero of a NaN, and a step would go on with lost numbers.
template <class Chain> inline constexpr dnnl::algorithm activation = dnnl::algorithm::undef;
template <>
inline constexpr dnnl::algorithm activation<op::Chain<Tanh>> = dnnl::algorithm::eltwise_tanh;
template <>
inline constexpr dnnl::algorithm activation<op::Chain<Sigmoid>> = dnnl::algorithm::eltwise_logistic;
template <>
inline constexpr dnnl::algorithm activation<op::Chain<GELU>> = dnnl::algorithm::eltwise_gelu_erf;

}  // namespace phyllo::inline PHYLLO_ISA::onednn
