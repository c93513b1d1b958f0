// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

/// What digits_train is told on its command line.
struct DigitsOptions {
  std::string data = "examples/data/digits.csv.gz";
  std::string weights = "digits.safetensors";
  std::string log = "digits.csv";
  std::uint64_t epochs = 40;
  long batch = 64;  // of all ranks together
  float rate = 0.05f;
  std::uint64_t seed = 1;

  /// False when there is nothing to train: after --help or a mistake, which it has printed.
  bool parse(int argc, char** argv, int& status);
};
