// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <io/safetensors_file.hpp>

#include <string>
#include <string_view>

namespace phyllo_test {

// An NPY file with this header, as numpy pads it.
inline std::string npy_with_header(std::string header, std::string_view data, int version) {
  std::size_t const before = version == 1 ? 10 : 12;
  while ((before + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += char(version);
  file += '\0';
  for (std::size_t i = 0; i < before - 8; ++i) file += char(header.size() >> (8 * i) & 0xff);
  return file + header + std::string(data);
}

inline std::string npy_text(std::string_view descr, std::string_view shape, std::string_view data,
                            int version = 1) {
  return npy_with_header("{'descr': '" + std::string(descr) +
                             "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
                         data, version);
}

}  // namespace phyllo_test
