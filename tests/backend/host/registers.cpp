// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels whose machine code registers.py reads: inference and a whole training step of an MLP, in
// bfloat16 where the target multiplies pairs in vectors, and the three products of a wide layer.

#include <phyllo/phyllo.hpp>

using namespace phyllo;

namespace {
struct Mlp : Network<Input<64>, Linear<64>, ReLU, Linear<64>, Tanh, Linear<64>> {};
#if defined(__AVX512BF16__)
using P = Mixed<bf16, float>;
#else
using P = Full<float>;
#endif
using Inference = Planned<Mlp, Phase::inference, FusionLevel::segment, sizeof(P::storage)>;
using Segment = StepSegment<Inference, 0>;

using Rows = host::MatrixOperand<float, true>;
using Columns = host::MatrixOperand<float, false>;
template <class Left, class Right, class Epilogue>
using Product = host::MatrixProduct<host::VectorProduct<float, Left>, Right, Epilogue>;
using Forward = Product<Rows, Rows, host::ForwardEpilogue<op::Chain<ReLU>, Full<float>>>;
using InputGradient = Product<Rows, Columns, host::BackwardEpilogue<Full<float>>>;
using WeightGradient = Product<Columns, Rows, host::ParametersEpilogue<Full<float>>>;
}  // namespace

template struct phyllo::host::segment_forward<Segment, P>;
template struct phyllo::host::backward_piece<op::WholeStep<Segment, MeanSquaredError>, P>;
// Not whole structs: sums of columns are for the epilogue of weight gradients only.
template void Forward::operator()(int) const;
template void InputGradient::operator()(int) const;
template void WeightGradient::operator()(int) const;
