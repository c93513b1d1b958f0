// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/policy/communication.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace phyllo::inline PHYLLO_ISA {

/// The settings that must be the same on all ranks: lines "what: value" in one text of fixed size,
/// which any communication policy can send.
///
/// state    at most `capacity` bytes
/// errors   more lines than fit -> Error
/// numerics a value longer than `longest_value` is cut and ends in a hash of all of it
class Agreement {
 public:
  static constexpr std::size_t message = 2048;           // bytes that travel
  static constexpr std::size_t capacity = message - 16;  // without a rank's number before them
  static constexpr std::size_t longest_value = 96;

  Agreement() { text_.reserve(capacity); }

  void add(std::string_view what, std::string_view value) {
    std::string line(what);
    line += ": ";
    line += value.substr(0, longest_value);
    if (value.size() > longest_value) line += "... #" + hash(value);
    if (text_.size() + line.size() + 1 > capacity)
      throw Error("Agreement: expected at most " + std::to_string(capacity) +
                  " bytes of what ranks agree on, got \"" + line + "\" beyond them.");
    text_ += line + '\n';
  }

  void add(std::string_view what, double value) {
    char text[32];
    auto const end = std::to_chars(text, text + sizeof text, value).ptr;  // no two numbers alike
    add(what, std::string_view(text, std::size_t(end - text)));
  }

  std::string const& text() const { return text_; }

  /// FNV-1a, in 16 hexadecimal digits: the same on every machine.
  static std::string hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (char const c : text) h = (h ^ std::uint8_t(c)) * 0x100000001b3u;
    std::string digits(16, '0');
    for (std::size_t k = 16; k-- > 0; h >>= 4) digits[k] = "0123456789abcdef"[h & 15];
    return digits;
  }

 private:
  std::string text_;
};

namespace detail {

// The text of the one rank that speaks, on every rank: others add zeros to its bytes. A byte is
// exact in every wire precision.
template <class Space, class C>
std::string text_of_speaker(Space const& exec, C& communication, std::string const& text,
                            bool speaks) {
  using Host = Kokkos::View<double*, Kokkos::HostSpace>;
  Host const host("phyllo: what ranks agree on", Agreement::message);
  if (speaks)
    for (std::size_t i = 0; i < text.size(); ++i) host(i) = double(std::uint8_t(text[i]));
  auto const data = Kokkos::create_mirror_view(typename Space::memory_space{}, host);
  Kokkos::deep_copy(exec, data, host);
  communication.sum(exec, data.data(), long(Agreement::message));
  Kokkos::deep_copy(exec, host, data);
  exec.fence("phyllo: what ranks agree on");
  std::string received;
  for (std::size_t i = 0; i < Agreement::message && host(i) != 0; ++i)
    received += char(std::uint8_t(host(i)));
  return received;
}

// The first line of a text that is not the first line of the other.
inline std::string first_difference(std::string_view text, std::string_view other) {
  while (!text.empty()) {
    std::string_view const line = text.substr(0, text.find('\n'));
    if (line != other.substr(0, other.find('\n'))) return std::string(line);
    text.remove_prefix(line.size() + 1);
    other.remove_prefix(line.size() + 1);
  }
  return "nothing more";
}

}  // namespace detail

/// Throws the same Error on all ranks if they differ; it names the first difference between rank 0
/// and the first rank that differs from it. Every rank calls it; two sums of 2048 numbers, by a
/// communication policy or a Transport.
template <class Space, class C>
void agree(Space const& exec, C& communication, std::string const& who, Agreement const& mine,
           std::string const& remedy = "Start one program with one set of options on all ranks.") {
  if (communication.size() == 1) return;
  int const rank = communication.rank();
  std::string const first = detail::text_of_speaker(exec, communication, mine.text(), rank == 0);
  bool const differs = mine.text() != first;
  bool const is_first_to_differ = communication.exclusive_sum(differs ? 1 : 0) == 0 && differs;
  std::string const numbered = std::to_string(rank) + '\n' + mine.text();
  std::string const other =
      detail::text_of_speaker(exec, communication, numbered, is_first_to_differ);
  if (other.empty()) return;
  std::string const other_rank = other.substr(0, other.find('\n'));
  std::string const text = other.substr(other_rank.size() + 1);
  throw Error(who + ": expected the same training on all " + std::to_string(communication.size()) +
              " ranks, got \"" + detail::first_difference(first, text) + "\" on rank 0 and \"" +
              detail::first_difference(text, first) + "\" on rank " + other_rank + ". " + remedy);
}

}  // namespace phyllo::inline PHYLLO_ISA
