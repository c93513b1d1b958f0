// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Options: the decay rates of Adam.s moments are called beta1 and beta2

#include <phyllo/train/adam.hpp>

int main() {
  auto const options = phyllo::Adam{.rate = 1e-3f, .betas = {0.9f, 0.99f}};
  return int(sizeof(options));
}
