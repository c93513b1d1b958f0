// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fstream>
#include <string>

namespace phyllo_test {

// Bytes that this process has read from files, cached or not, by Linux' own count; -1 elsewhere.
inline long bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  long bytes = -1;
  return file >> name >> bytes && name == "rchar:" ? bytes : -1;
}

}  // namespace phyllo_test
