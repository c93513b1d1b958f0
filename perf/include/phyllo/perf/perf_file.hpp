// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <phyllo/io/input_file.hpp>
#include <phyllo/io/refuse_file.hpp>

#include <cstddef>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::detail {

// One line of what `perf/run --json` writes: an object of numbers, words and such objects. Strings
// stay as they are written, escapes and all.
class PerfLine {
 public:
  // source names the file in messages; number is the line's in it.
  PerfLine(std::string_view text, std::string_view source, std::size_t number)
      : text_(text), source_(source), number_(number) {
    object("", 0);
    if (peek() != '\0') refuse("the end of the line");
    text_ = {};
  }

  // The value at a path such as "seconds.median"; empty where there is none.
  std::string_view word(std::string_view path) const {
    for (auto const& [key, value] : values_)
      if (key == path) return value;
    return {};
  }
  double number(std::string_view path) const {
    std::istringstream stream{std::string(word(path))};
    stream.imbue(std::locale::classic());
    double value = 0;
    if (!(stream >> value) || !stream.eof())
      refuse_file(source_, "a number for " + std::string(path) + " on line " + line(),
                  in_quotes(word(path)), remedy);
    return value;
  }

 private:
  static constexpr std::string_view remedy = "write the file anew with perf/run --json";
  static constexpr int deepest = 4;

  std::string line() const { return std::to_string(number_); }
  [[noreturn]] void refuse(std::string_view expected) const {
    refuse_file(source_, std::string(expected) + " on line " + line(),
                at_ < text_.size() ? in_quotes(text_.substr(at_)) : "the end of the line", remedy);
  }

  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r").find(text_[at_]) != text_.npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  std::string_view string() {
    if (!accept('"')) refuse("a string");
    std::size_t const begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) refuse("a closing quote");
    return text_.substr(begin, at_++ - begin);
  }
  void object(std::string const& path, int depth) {
    if (depth > deepest || !accept('{')) refuse("an object");
    if (accept('}')) return;
    do {
      std::string key = path + std::string(string());
      if (!accept(':')) refuse("a colon");
      char const next = peek();
      if (next == '{') {
        object(key + ".", depth + 1);
      } else if (next == '"') {
        values_.emplace_back(std::move(key), string());
      } else {
        std::size_t const end = text_.find_first_of(",} \t\r", at_);
        std::string_view const word = text_.substr(at_, end - at_);
        if (word.empty() || word.find_first_of("[]{\":") != word.npos) refuse("a number or a word");
        at_ += word.size();
        values_.emplace_back(std::move(key), word);
      }
    } while (accept(','));
    if (!accept('}')) refuse("a comma or a closing brace");
  }

  std::string_view text_;
  std::string_view source_;
  std::size_t number_ = 0;
  std::size_t at_ = 0;
  std::vector<std::pair<std::string, std::string>> values_;
};

// All lines of such a file; source names it in messages.
inline std::vector<PerfLine> read_perf_file(std::string const& path, std::string_view source) {
  InputFile file(path, source);
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(text.data(), text.size());
  std::vector<PerfLine> lines;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = text.find('\n', begin);
    std::string_view const line = std::string_view(text).substr(begin, end - begin);
    ++number;
    if (line.find_first_not_of(" \t\r") != line.npos) lines.emplace_back(line, source, number);
    if (end == text.npos) break;
    begin = end + 1;
  }
  return lines;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
