// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: after the team member, expected as many inputs as the network has and then as

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Rate : Network<Input<2>, Linear<1>> {};

void call(Kokkos::TeamPolicy<>::member_type const& member, float const* state) {
  InKernel<Rate, Full<float>> const closure;
  closure(member, state);
}
