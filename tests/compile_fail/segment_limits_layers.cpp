// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: SegmentLimits: most_layers is at most op::Segment<>::max_length

#include <phyllo/fusion/planned.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;

struct Net : Network<Input<7>, Linear<3>, Linear<2>> {};
struct Limits {
  static constexpr SegmentLimits value = {.widest = 8, .most_layers = 17};
};

int main() { return Planned<Net, Phase::inference, FusionLevel::tile, 4, Limits>::plan.size; }
