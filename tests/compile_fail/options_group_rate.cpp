// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Options: a group's learning rate is that of the rule times rate_factor

#include <phyllo/train/parameter_group.hpp>

int main() {
  auto const group = phyllo::ParameterGroup{.lr = 0.1};
  return int(sizeof(group));
}
