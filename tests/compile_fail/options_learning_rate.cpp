// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Options: the learning rate is called rate

#include <phyllo/train/sgd.hpp>

int main() {
  auto const options = phyllo::Sgd{.lr = 0.1f, .momentum = 0.9f};
  return int(sizeof(options));
}
