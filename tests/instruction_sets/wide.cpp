// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <instruction_sets/network.hpp>

std::vector<double> wide_outputs() { return outputs_after_training<Shared>(); }
