// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: GlobalAveragePool: expected spatial extents to average over
// position: GlobalAveragePool::Refused
// position: Layer<1>
// position: Given<10>
// position: Expected<10, 1, 1>

#include <phyllo/layer/global_average_pool.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<10>, GlobalAveragePool> {};

int main() { return Wrong::parameter_count; }
