// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: an output is read-only

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Rate : Network<Input<4>, Linear<2>> {};
using Member = Kokkos::TeamPolicy<>::member_type;

void call(InKernel<Rate, Full<float>> const& closure, Member const& member, float const* x) {
  Kokkos::View<float const[2]> const y;
  closure(Warp(member), x, y);
}

int main() {}
