// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <phyllo/io/refuse_file.hpp>
#include <phyllo/io/tensor.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

using Names = std::vector<std::string_view>;

// Names for a message: the first 20, and how many more there are.
inline std::string listed(Names const& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") + in_quotes(names[i]);
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

// Insertions, deletions and replacements of characters that make one name of the other: Wagner and
// Fischer, J. ACM 21 (1974) 168.
inline std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t const replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// The name that was probably meant; empty where none is similar. A name with another module in
// front is nearer than any other.
//
// cost     names of at most 80 characters, the first 1000 of them: a file may have millions
inline std::string_view nearest_name(std::string_view wanted, Names const& names) {
  constexpr std::size_t longest = 80, most = 1000;
  std::string_view nearest;
  std::size_t fewest = wanted.size();
  auto const ends_with_module = [](std::string_view name, std::string_view end) {
    return name.size() > end.size() && name.ends_with(end) &&
           name[name.size() - end.size() - 1] == '.';
  };
  if (wanted.size() > longest) return nearest;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    std::string_view const name = names[i];
    if (name.size() > longest) continue;
    bool const is_inside = ends_with_module(name, wanted) || ends_with_module(wanted, name);
    std::size_t const edits = is_inside ? 1 : edits_between(wanted, name);
    if (edits < fewest && 2 * edits <= std::max(wanted.size(), name.size())) {
      fewest = edits;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
