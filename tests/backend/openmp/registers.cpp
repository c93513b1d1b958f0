// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels whose machine code registers.py reads: inference and a whole training step of an MLP.

#include <phyllo/phyllo.hpp>

using namespace phyllo;

namespace {
struct Mlp : Network<Input<64>, Linear<64>, ReLU, Linear<64>, Tanh, Linear<64>> {};
using Inference = Planned<Mlp, Phase::inference, Fusion::segment, sizeof(float)>;
using Segment = StepSegment<Inference, 0>;
}  // namespace

template struct phyllo::openmp::segment_forward<Segment, Full<float>>;
template struct phyllo::openmp::whole_step_piece<Segment, MeanSquaredError, Full<float>>;
