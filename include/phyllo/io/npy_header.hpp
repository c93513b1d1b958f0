// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <phyllo/core/element_type.hpp>
#include <phyllo/io/refuse_file.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

inline constexpr std::string_view damaged_npy_remedy =
    "the file is damaged or not an NPY file, so write it again with numpy.save";

// Element type, order and extents of an NPY file: the dictionary of its header.
//
// source   numpy.lib.format, versions 1.0 to 3.0
class NpyHeader {
 public:
  static constexpr std::size_t longest = 65536;  // bytes; numpy writes at most some hundred
  static constexpr std::size_t most_extents = 32;

  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;
  bool fortran_order = false;  // only where it differs from C order

  // text: the dictionary; source names the file in messages.
  static NpyHeader parse(std::string_view text, std::string_view source) {
    NpyHeader header(text, source);
    header.read_dictionary();
    return header;
  }

 private:
  NpyHeader(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  [[noreturn]] void refuse(std::string_view expected) const {
    refuse_file(source_, expected, in_quotes(text_), damaged_npy_remedy);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view quoted() {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      refuse("a key in quotes in the header");
    char const quote = text_[at_++];
    std::size_t const end = text_.find(quote, at_);
    if (end == std::string_view::npos) refuse("a closing quote in the header");
    std::string_view const word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }
  void read_dictionary() {
    bool has_type = false, has_order = false, has_shape = false;
    if (!accept('{')) refuse("a dictionary as the header");
    while (!accept('}')) {
      std::string_view const key = quoted();
      if (!accept(':')) refuse("a colon behind each key of the header");
      if (key == "descr" && !has_type) {
        has_type = true;
        read_type();
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        read_order();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        read_shape();
      } else {
        refuse("the keys descr, fortran_order and shape once each");
      }
      if (!accept(',')) {
        if (!accept('}')) refuse("a comma between the keys of the header");
        break;
      }
    }
    skip();
    if (at_ != text_.size() || !has_type || !has_order || !has_shape)
      refuse("the keys descr, fortran_order and shape once each");
    // Of one extent, or with one that is not 1, both orders are the same.
    int longer = 0;
    for (std::int64_t const extent : shape) longer += extent != 1;
    if (longer < 2) fortran_order = false;
  }
  void read_type() {
    skip();
    if (at_ < text_.size() && text_[at_] == '[')
      refuse_file(source_, "one number for each element", "a structured type",
                  "save each field as a file of its own");
    std::string_view const name = quoted();
    struct Known {
      std::string_view name;
      ElementType type;
    };
    constexpr Known known[] = {{"f2", ElementType::f16}, {"f4", ElementType::f32},
                               {"f8", ElementType::f64}, {"u1", ElementType::u8},
                               {"i1", ElementType::i8},  {"i2", ElementType::i16},
                               {"i4", ElementType::i32}, {"i8", ElementType::i64}};
    bool const has_order = !name.empty() && std::string_view("<>|=").find(name[0]) < 4;
    for (Known const& k : known) {
      if (name.substr(has_order ? 1 : 0) != k.name) continue;
      if (name[0] == '>' && element_size(k.type) > 1)
        refuse_file(source_, "little-endian numbers", in_quotes(name),
                    "save x.astype(x.dtype.newbyteorder('<')) instead");
      type = k.type;
      return;
    }
    refuse_file(source_, "elements of type f2, f4, f8, u1, i1, i2, i4 or i8", in_quotes(name),
                "convert the array with numpy.astype and save it again");
  }
  void read_order() {
    skip();
    for (std::string_view const word : {std::string_view("True"), std::string_view("False")})
      if (text_.substr(at_, word.size()) == word) {
        fortran_order = word == "True";
        at_ += word.size();
        return;
      }
    refuse("True or False as fortran_order");
  }
  void read_shape() {
    if (!accept('(')) refuse("extents in parentheses as shape");
    while (!accept(')')) {
      skip();
      std::size_t const begin = at_;
      std::int64_t extent = 0;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        int const digit = text_[at_++] - '0';
        if (extent > (std::numeric_limits<std::int64_t>::max() - digit) / 10)
          refuse("extents of 64 bits");
        extent = 10 * extent + digit;
      }
      if (at_ == begin) refuse("whole numbers as shape");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // of Python 2
      if (shape.size() == most_extents) refuse("at most 32 extents");
      shape.push_back(extent);
      if (accept(',')) continue;
      if (!accept(')')) refuse("a comma between extents");
      break;
    }
  }

  std::string_view text_, source_;
  std::size_t at_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
