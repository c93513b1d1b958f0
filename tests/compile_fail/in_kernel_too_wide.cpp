// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: the network is too wide for one thread .* Call it by a team: closure\(member,
// input, output\)

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Wide : Network<Input<3>, Linear<256>, Tanh, Linear<1>> {};

int main() {
  float const state[3] = {};
  InKernel<Wide, Full<float>> const closure;
  float const rate = closure(state);
  return int(rate);
}
