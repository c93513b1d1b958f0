// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <instruction_sets/network.hpp>

std::vector<double> baseline_outputs() { return outputs_after_training<Shared>(); }

void pass_to_baseline(phyllo::Model<Shared>& model) {
  model.initialize(Kokkos::DefaultHostExecutionSpace{});
}
