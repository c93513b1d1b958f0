// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Reproducible: BatchNorm<Statistics::Global> adds over all samples in the middle of a step

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<4>, Linear<8>, BatchNorm<Statistics::Global>, Linear<2>> {};
using Exec = Execution<Kokkos::DefaultHostExecutionSpace, Backends<PortableBackend>,
                       FusionLevel::tile, Reproducible<>>;

int main() { return int(sizeof(Trainer<Net, CrossEntropy, Sgd, Full<float>, Local, Exec>)); }
