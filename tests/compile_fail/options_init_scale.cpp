// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Options: the first loss scale is called initial

#include <phyllo/train/loss_scaling.hpp>

int main() {
  auto const options = phyllo::LossScaling{.init_scale = 1024, .interval = 100};
  return int(sizeof(options));
}
