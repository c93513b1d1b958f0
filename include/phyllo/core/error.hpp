// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <stdexcept>
#include <string>

namespace phyllo {

/// The exception of every refusal at run time.
///
/// Its text is a sentence that names what refuses, what was expected, what was passed, and the
/// remedy if there is one.
// Outside the namespace of the instruction set (PHYLLO_ISA), so that a caller compiled for another
// one can catch it.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string const& sentence) : std::runtime_error(sentence) {}
};

}  // namespace phyllo
