// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: get<tag>: the network has no output of that name. Put Output<tag> after the part that

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct rate;
struct flux;
struct other;
struct Heads : Network<Input<2>, Linear<1>, Output<rate>, Linear<1>, Output<flux>> {};

int main() {
  float const state[2] = {};
  InKernel<Heads, Full<float>> const closure;
  float const wrong = closure(state).get<other>();
  return int(wrong);
}
