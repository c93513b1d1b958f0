// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Trainer: with this communication policy the order of sums depends on the number of ranks

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<4>, Linear<8>, Linear<2>> {};
struct Other : Local {};
using Exec = Execution<Kokkos::DefaultHostExecutionSpace, Backends<PortableBackend>,
                       FusionLevel::tile, Reproducible<>>;

int main() { return int(sizeof(Trainer<Net, CrossEntropy, Sgd, Full<float>, Other, Exec>)); }
