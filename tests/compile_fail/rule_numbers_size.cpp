// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: StepState: expected a rule's numbers to be a plain struct of at most 4 doubles

#include <phyllo/phyllo.hpp>

struct Numbers {
  double number[5];
};

int main() { return int(phyllo::StepState{}.rule_numbers<Numbers>().number[0]); }
