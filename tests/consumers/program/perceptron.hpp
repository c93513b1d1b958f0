// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

struct Perceptron
    : phyllo::Network<phyllo::Input<4>, phyllo::Linear<8>, phyllo::Tanh, phyllo::Linear<2>> {};

// What the other translation unit knows of the same network.
int parameters_elsewhere();
char const* plan_elsewhere();
