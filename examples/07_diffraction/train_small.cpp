// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "train_classifier.hpp"

/// Four convolutions, for tests and first trials.
struct Small27
    : phyllo::Network<phyllo::Input<1, 120, 85>,
                      phyllo::Conv2d<16, phyllo::KernelSize<5>, phyllo::Stride<2>,
                                     phyllo::Padding<2>, phyllo::Bias<false>>,
                      phyllo::BatchNorm<>, phyllo::ReLU, phyllo::MaxPool2d<2>,
                      phyllo::Conv2d<32, phyllo::Padding<1>, phyllo::Bias<false>>,
                      phyllo::BatchNorm<>, phyllo::ReLU, phyllo::MaxPool2d<2>,
                      phyllo::Conv2d<64, phyllo::Padding<1>, phyllo::Bias<false>>,
                      phyllo::BatchNorm<>, phyllo::ReLU, phyllo::MaxPool2d<2>,
                      phyllo::Conv2d<64, phyllo::Padding<1>, phyllo::Bias<false>>,
                      phyllo::BatchNorm<>, phyllo::ReLU, phyllo::Flatten, phyllo::Linear<27>> {};

TrainingResult train_small(TrainingOptions const& options) {
  return train_classifier<Small27>(options);
}
