// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Options: the largest number of samples is called batch

#include <phyllo/model/model_options.hpp>

int main() {
  auto const options = phyllo::ModelOptions{.batch_size = 32, .seed = 1};
  return int(sizeof(options));
}
