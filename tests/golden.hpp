// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace phyllo::test {

/// Number i of a stream, uniform in [-1, 1): the same in C++ and in the scripts that write golden
/// files.
///
/// source   the mixing function of splitmix64: Steele, Lea and Flood, OOPSLA 2014
inline double counter_number(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = ((stream << 32) + i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return double(z >> 11) * 0x1p-52 - 1;
}

/// The numbers behind a key of a golden file, tests/<name>.txt; empty where it has none.
inline std::vector<double> golden(std::string const& name, std::string const& key) {
  std::ifstream file("tests/" + name + ".txt");
  std::string line;
  std::vector<double> numbers;
  while (std::getline(file, line)) {
    if (line.compare(0, key.size() + 1, key + " ") != 0) continue;
    char const* at = line.c_str() + key.size();
    char* end = nullptr;
    for (double x = std::strtod(at, &end); end != at; x = std::strtod(at, &end)) {
      numbers.push_back(x);
      at = end;
    }
    break;
  }
  return numbers;
}

}  // namespace phyllo::test
