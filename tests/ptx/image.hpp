// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "module.hpp"

namespace ptx {

/// A fat binary as the program registers it, and what its PTX defines, read when it is first asked
/// for. Of several texts the last one counts.
///
/// errors  stops where there is no PTX or it is compressed
/// source  the layout is not documented; read off what nvcc 13 writes: a header (magic, version and
///         its bytes, bytes behind it), then for each part a header (kind, its bytes, bytes behind
///         it), kind 1 being PTX
class Image {
 public:
  explicit Image(void const* data) : data_(static_cast<unsigned char const*>(data)) {}
  Module& module();

 private:
  std::string text() const;
  unsigned char const* data_;
  std::unique_ptr<Module> module_;
};

}  // namespace ptx
