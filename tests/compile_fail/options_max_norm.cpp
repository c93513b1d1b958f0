// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Options: clipping of the gradient.s norm is called clipping

#include <phyllo/train/optimizer_options.hpp>

int main() {
  auto const options = phyllo::OptimizerOptions{.max_norm = 1};
  return int(sizeof(options));
}
