// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

/// Handwritten digits of 8x8 pixels into ten classes.
// clang-format off
struct DigitsNetwork : phyllo::Network<
    phyllo::Input<1, 8, 8>,
    phyllo::Conv2d<16, phyllo::KernelSize<3>, phyllo::Padding<1>>, phyllo::ReLU,
    phyllo::Conv2d<32, phyllo::KernelSize<3>, phyllo::Padding<1>>, phyllo::ReLU, phyllo::MaxPool2d<2>,
    phyllo::Flatten, phyllo::Linear<64>, phyllo::ReLU, phyllo::Dropout<0.25>,
    phyllo::Linear<10>> {};
// clang-format on
