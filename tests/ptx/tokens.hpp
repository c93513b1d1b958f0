// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "instruction.hpp"

namespace ptx {

/// The words and signs of a text, one after the other; comments are left out.
class Tokens {
 public:
  explicit Tokens(std::string const& text);

  bool at_end() const { return next_ == tokens_.size(); }
  std::string const& peek(std::size_t ahead = 0) const;
  std::string const& take();
  /// Whether the next one is this; it is taken then.
  bool skip(char const* token);
  /// Stops where the next one is another.
  void expect(char const* token);
  int number();
  /// A word with the sign before it.
  std::string signed_word();

  std::size_t position() const { return next_; }
  /// The text from a position up to the next token.
  std::string since(std::size_t position) const;

 private:
  std::vector<std::string> tokens_;
  std::size_t next_ = 0;
};

bool is_number(std::string const& word);

/// A number's bits; of a float they stand behind 0f or 0d (PTX ISA 9.0, 4.5.2).
Bits bits_of(std::string const& word);

}  // namespace ptx
