// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled as wide.cpp is and never linked: the model that it hands on is of another type there.

#include <instruction_sets/network.hpp>

void pass_on(phyllo::Model<Shared>& model) { pass_to_baseline(model); }
