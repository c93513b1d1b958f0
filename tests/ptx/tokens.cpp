// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tokens.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "complaint.hpp"

namespace ptx {

Tokens::Tokens(std::string const& text) {
  auto const is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' ||
           c == '$';
  };
  std::size_t const size = text.size();
  for (std::size_t i = 0; i < size;) {
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      i = end;
      continue;
    }
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), size);
      continue;
    }
    if (text.compare(i, 2, "/*") == 0) {
      end = text.find("*/", i);
      i = end == std::string::npos ? size : end + 2;
      continue;
    }
    if (text[i] == '"')
      end = std::min(text.find('"', end), size - 1) + 1;
    else if (is_word(text[i]))  // with the colons of shared::cta
      for (end = i; end < size && (is_word(text[end]) || text.compare(end, 2, "::") == 0);)
        end += text[end] == ':' ? 2 : 1;
    tokens_.push_back(text.substr(i, end - i));
    i = end;
  }
}

std::string const& Tokens::peek(std::size_t ahead) const {
  static std::string const none;
  return next_ + ahead < tokens_.size() ? tokens_[next_ + ahead] : none;
}

std::string const& Tokens::take() {
  if (at_end()) stop("the PTX text ends in the middle of a statement.");
  return tokens_[next_++];
}

bool Tokens::skip(char const* token) {
  if (peek() != token) return false;
  ++next_;
  return true;
}

void Tokens::expect(char const* token) {
  if (!skip(token))
    stop("expected " + std::string(token) + " in the PTX text behind " +
         since(next_ < 8 ? 0 : next_ - 8) + ", got " + peek() + ".");
}

int Tokens::number() { return std::atoi(take().c_str()); }

std::string Tokens::signed_word() {
  bool const is_negative = skip("-");
  return (is_negative ? "-" : "") + take();
}

std::string Tokens::since(std::size_t position) const {
  std::string text;
  for (std::size_t i = position; i < next_; ++i) {
    bool const is_close = text.empty() || tokens_[i] == "," || tokens_[i] == ";" ||
                          tokens_[i] == "]" || tokens_[i] == "}" || text.back() == '[' ||
                          text.back() == '{' || text.back() == '-';
    text += (is_close ? "" : " ") + tokens_[i];
  }
  return text;
}

bool is_number(std::string const& word) {
  return word[0] == '-' || (word[0] >= '0' && word[0] <= '9');
}

Bits bits_of(std::string const& word) {
  if (word[0] == '0' && word.size() > 1 && std::strchr("fFdD", word[1]))
    return std::strtoull(word.c_str() + 2, nullptr, 16);
  return word[0] == '-' ? Bits(std::strtoll(word.c_str(), nullptr, 0))
                        : std::strtoull(word.c_str(), nullptr, 0);
}

}  // namespace ptx
