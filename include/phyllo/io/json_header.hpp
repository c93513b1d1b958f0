// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <phyllo/io/refuse_file.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

// Bytes of the UTF-8 sequence at the start of the text; 0 where there is none. Overlong forms,
// surrogates and values above U+10FFFF are none (The Unicode Standard, table 3-7).
constexpr std::size_t utf8_sequence(std::string_view text) {
  auto const byte = [text](std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  auto const follows = [&byte](std::size_t index, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(index) >= low && byte(index) <= high;
  };
  unsigned const first = byte(0);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    bool const second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    bool const second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

constexpr bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    std::size_t const length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Appends the text as a JSON string, escaped as the reference implementation escapes.
inline void append_json_string(std::string& json, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  json += '"';
  for (char const character : text) {
    switch (character) {
      case '"':
        json += "\\\"";
        break;
      case '\\':
        json += "\\\\";
        break;
      case '\b':
        json += "\\b";
        break;
      case '\f':
        json += "\\f";
        break;
      case '\n':
        json += "\\n";
        break;
      case '\r':
        json += "\\r";
        break;
      case '\t':
        json += "\\t";
        break;
      default: {
        auto const value = static_cast<unsigned char>(character);
        if (value < 0x20) {
          json += "\\u00";
          json += digits[value / 16];
          json += digits[value % 16];
        } else {
          json += character;
        }
      }
    }
  }
  json += '"';
}

// A cursor over the JSON of a file header: strings, natural numbers and punctuation, which is all
// that such a header may hold. The caller spells out the nesting it expects, so no depth of
// brackets in a file becomes a depth of calls. What is kept of the file is charged against a limit
// before it is allocated.
class JsonHeader {
 public:
  // source names the file in messages; memory is the number of bytes that may be kept.
  JsonHeader(std::string_view text, std::string_view source, std::uint64_t memory)
      : text_(text), source_(source), memory_(memory) {}

  [[noreturn]] void refuse(std::string const& expected, std::string const& got) const {
    refuse_file(source_, expected, got, damaged_file_remedy);
  }

  [[noreturn]] void refuse_here(std::string const& expected) const {
    std::string const rest = position_ < text_.size() ? in_quotes(text_.substr(position_, 1))
                                                      : std::string("the end of the header");
    refuse(expected, rest + " at byte " + std::to_string(position_) + " of the header");
  }

  void charge(std::uint64_t bytes) {
    if (bytes > memory_) {
      refuse("tensors and metadata that fit in memory of twice the file and 16 MB",
             "a header of " + std::to_string(text_.size()) + " bytes that unfolds into more");
    }
    memory_ -= bytes;
  }

  // The character that comes next after white space; NUL, which no token begins with, at the end.
  char peek() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char character) {
    if (peek() != character || position_ == text_.size()) return false;
    ++position_;
    return true;
  }

  void expect(char character, std::string_view what) {
    if (!accept(character)) {
      refuse_here(std::string("'") + character + "' " + std::string(what));
    }
  }

  void expect_end() {
    peek();
    if (position_ != text_.size()) refuse_here("only spaces after the header's closing brace");
  }

  std::string string(std::string_view what) {
    if (!accept('"')) refuse_here("a string for " + std::string(what));
    std::size_t end = position_;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) {
      position_ = text_.size();
      refuse_here("a closing quote for " + std::string(what));
    }
    std::string result;
    // A short string is part of the object that keeps it.
    if (end - position_ > result.capacity()) charge(end - position_ + heap_overhead);
    result.reserve(end - position_);  // No escape is shorter than what it stands for.
    while (position_ < end) {
      if (text_[position_] == '\\') {
        append_escape(result, what);
        continue;
      }
      if (static_cast<unsigned char>(text_[position_]) < 0x20) {
        refuse_here("control characters in " + std::string(what) + " to be escaped");
      }
      std::size_t const length = utf8_sequence(text_.substr(position_, end - position_));
      if (length == 0) refuse_here("UTF-8 in " + std::string(what));
      result.append(text_.substr(position_, length));
      position_ += length;
    }
    ++position_;
    return result;
  }

  std::uint64_t natural_number(std::string_view what, std::uint64_t largest) {
    peek();
    std::size_t const begin = position_;
    std::uint64_t value = 0;
    while (position_ < text_.size() && is_digit(text_[position_])) {
      auto const digit = static_cast<std::uint64_t>(text_[position_] - '0');
      if (value > (largest - digit) / 10) {
        position_ = begin;
        refuse_here("a number of at most " + std::to_string(largest) + " for " + std::string(what));
      }
      value = value * 10 + digit;
      ++position_;
    }
    bool const leading_zero = position_ > begin + 1 && text_[begin] == '0';
    bool const continues = position_ < text_.size() && is_number_part(text_[position_]);
    if (position_ == begin || leading_zero || continues) {
      position_ = begin;
      refuse_here("a natural number in decimal digits for " + std::string(what));
    }
    return value;
  }

  // How many values the array holds that begins at the next character, by its commas.
  std::size_t array_length_ahead() {
    if (peek() == ']') return 0;
    std::string_view const ahead = text_.substr(position_);
    std::string_view const array = ahead.substr(0, ahead.find(']'));
    return static_cast<std::size_t>(std::count(array.begin(), array.end(), ',')) + 1;
  }

  // How many objects the header opens, itself included: exact where the header is well formed.
  std::size_t object_count() const {
    std::size_t count = 0;
    bool inside_string = false;
    for (std::size_t index = 0; index < text_.size(); ++index) {
      char const character = text_[index];
      if (character == '"') inside_string = !inside_string;
      if (inside_string && character == '\\') ++index;
      if (!inside_string && character == '{') ++count;
    }
    return count;
  }

  // Bytes that one allocation costs beside its own: the allocator's header and rounding.
  static constexpr std::uint64_t heap_overhead = 32;

 private:
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static constexpr bool is_number_part(char c) {
    return c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
  }

  // The four digits after the backslash and the u at the cursor.
  std::uint32_t unicode_escape(std::string_view what) {
    std::uint32_t value = 0;
    for (std::size_t index = position_ + 2; index < position_ + 6; ++index) {
      char const c = index < text_.size() ? text_[index] : '\0';
      std::uint32_t digit = 0;
      if (is_digit(c)) {
        digit = static_cast<std::uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<std::uint32_t>(c - 'a') + 10;
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<std::uint32_t>(c - 'A') + 10;
      } else {
        refuse_here("four hexadecimal digits after \\u in " + std::string(what));
      }
      value = value * 16 + digit;
    }
    position_ += 6;
    return value;
  }

  void append_escape(std::string& result, std::string_view what) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    char const letter = text_[position_ + 1];
    if (letter != 'u') {
      std::size_t const index = letters.find(letter);
      if (index == std::string_view::npos) refuse_here("a JSON escape in " + std::string(what));
      result += meanings[index];
      position_ += 2;
      return;
    }
    std::uint32_t code = unicode_escape(what);
    if (code >= 0xdc00 && code <= 0xdfff) {
      refuse_here("a high surrogate before a low one in " + std::string(what));
    }
    if (code >= 0xd800 && code <= 0xdbff) {
      bool const paired = text_.substr(position_, 2) == "\\u";
      std::uint32_t const low = paired ? unicode_escape(what) : 0;
      if (low < 0xdc00 || low > 0xdfff) {
        refuse_here("a low surrogate after a high one in " + std::string(what));
      }
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(result, code);
  }

  static void append_utf8(std::string& result, std::uint32_t code) {
    auto const put = [&result](std::uint32_t byte) { result += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | (code >> 6));
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | (code >> 12));
      put(0x80 | ((code >> 6) & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3f));
      put(0x80 | ((code >> 6) & 0x3f));
      put(0x80 | (code & 0x3f));
    }
  }

  std::string_view text_;
  std::string_view source_;
  std::uint64_t memory_ = 0;
  std::size_t position_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
