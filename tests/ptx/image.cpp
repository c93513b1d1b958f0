// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"

#include <cstring>

#include "complaint.hpp"
#include "global_memory.hpp"

namespace ptx {

namespace {

template <class T> T at(unsigned char const* data, int bytes) {
  T value;
  std::memcpy(&value, data + bytes, sizeof value);
  return value;
}

}  // namespace

std::string Image::text() const {
  auto const* part = data_ + at<std::uint16_t>(data_, 6);
  auto const* const end = part + at<std::uint64_t>(data_, 8);
  std::string result;
  while (part < end) {
    auto const header = at<std::uint32_t>(part, 4);
    auto const bytes = at<std::uint64_t>(part, 8);
    if (at<std::uint16_t>(part, 0) == 1) {
      result.assign(reinterpret_cast<char const*>(part) + header, bytes);
      if (result.compare(0, 2, "//") && result.find(".version") == std::string::npos)
        stop(
            "the PTX of a program or of a library in it is compressed. Compile it, and Kokkos, "
            "with NVCC_PREPEND_FLAGS=--no-compress in the environment.");
    }
    part += header + bytes;
  }
  if (result.empty())
    stop(
        "a program has machine code of a device, but no PTX. Compile it with "
        "-gencode=arch=compute_90,code=compute_90, or with -arch=sm_90.");
  return result.substr(0, result.find('\0'));
}

Module& Image::module() {
  if (!module_) {
    module_ = parse(text());
    for (auto const& [name, variable] : module_->variables)
      global_memory().add(variable.memory, variable.bytes);
  }
  return *module_;
}

}  // namespace ptx
