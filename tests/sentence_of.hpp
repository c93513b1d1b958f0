// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>
#include <string>

namespace phyllo::test {

// The sentence of the exception that a call throws; "" where it throws none.
template <class Call> std::string sentence_of(Call const& call) {
  try {
    call();
  } catch (std::exception const& error) {
    return error.what();
  }
  return "";
}

}  // namespace phyllo::test
