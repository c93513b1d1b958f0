// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "perceptron.hpp"

#ifdef WITH_MPI
#include <phyllo/comm/mpi.hpp>
#endif

int parameters_elsewhere() { return Perceptron::parameter_count; }
char const* plan_elsewhere() { return phyllo::explain<Perceptron>(); }
