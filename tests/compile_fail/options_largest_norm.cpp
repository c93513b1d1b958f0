// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Options: the bound of the gradient.s norm is called largest_norm

#include <phyllo/train/clipping.hpp>

int main() {
  auto const options = phyllo::Clipping{.max_norm = 1};
  return int(sizeof(options));
}
