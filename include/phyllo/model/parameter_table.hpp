// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/network.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// One tensor of a network in the file: torch's name and extents.
///
/// shape    a matrix or kernel is (outputs, channels, taps...) in files and (taps, channels,
///          outputs) in the arena; a vector is the same in both. A buffer of one number an element
///          is (C, S...) in files and (S, C) in the arena
struct ParameterEntry {
  std::string name;  // "0.weight", "3.main.1.running_mean"
  std::vector<std::int64_t> shape;
  bool is_buffer = false;                   // in the buffer arena instead of the parameters'
  int offset = 0;                           // of its first element in the arena
  int taps = 1, channels = 1, outputs = 1;  // all vectors: (1, 1, size)
  int first = 0;  // its first element in the file's tensor, of which other layers may have the rest

  long size() const { return long(taps) * channels * outputs; }
  /// Place in the arena of element i of the file.
  long arena_index(long i) const {
    long const t = i % taps, c = i / taps % channels, o = i / taps / channels;
    return offset + (t * channels + c) * outputs + o;
  }
};

/// All parameters and buffers of a network, in the order of its layers.
template <class Net> std::vector<ParameterEntry> parameter_table() {
  using program = typename Net::program;
  std::vector<std::string> names;
  program::lowered::name_leaves(names, "");
  std::vector<ParameterEntry> table;
  for (int i = 0; i < program::size; ++i) {
    Node const& n = program::nodes.node[i];
    std::string const path = names[std::size_t(i)];
    for (ParameterTensor const& t : n.parameter) {
      if (t.count == 0) continue;
      ParameterEntry entry{path + "." + t.name, {},        false,       t.offset, t.taps,
                           t.channels,          t.outputs, t.file_first};
      entry.shape.assign(t.file, t.file + t.file_rank);
      table.push_back(entry);
    }
    int at = n.buffer;
    for (BufferTensor const& t : n.buffer_tensor) {
      if (t.count > 0 && t.per_element) {
        table.push_back(
            {path + "." + t.name, {}, true, at, n.output.positions(), 1, n.output.channels, 0});
        for (int d = 0; d <= n.output.rank; ++d) table.back().shape.push_back(n.output.extent(d));
      } else if (t.count > 0) {
        table.push_back({path + "." + t.name, {t.count}, true, at, 1, 1, t.count, 0});
      }
      at += t.count;
    }
  }
  return table;
}

}  // namespace phyllo::inline PHYLLO_ISA
