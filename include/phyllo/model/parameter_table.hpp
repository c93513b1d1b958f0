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
///          outputs) in the arena; a vector is the same in both
struct ParameterEntry {
  std::string name;  // "0.weight", "3.main.1.running_mean"
  std::vector<std::int64_t> shape;
  bool is_buffer = false;                   // in the buffer arena instead of the parameters'
  int offset = 0;                           // of its first element in the arena
  int taps = 1, channels = 1, outputs = 1;  // all vectors: (1, 1, size)

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
    auto const vector = [&](char const* what, int offset, int size, bool is_buffer) {
      table.push_back({path + what, {size}, is_buffer, offset, 1, 1, size});
    };
    if (n.role == Role::contraction) {
      int const taps = n.window.taps();
      ParameterEntry weight{path + ".weight", {n.output.channels}, false, n.weight, taps,
                            n.input.channels, n.output.channels};
      if (n.output.rank == 0) {
        weight.shape.push_back(std::int64_t(taps) * n.input.channels);
      } else {
        weight.shape.push_back(n.input.channels);
        for (int d = 3 - n.output.rank; d < 3; ++d) weight.shape.push_back(n.window.size[d]);
      }
      table.push_back(weight);
      if (n.bias_count > 0) vector(".bias", n.bias, n.bias_count, false);
    } else if (n.role == Role::normalization) {
      vector(".weight", n.weight, n.weight_count, false);
      vector(".bias", n.bias, n.bias_count, false);
      vector(".running_mean", n.buffer, n.input.channels, true);
      vector(".running_var", n.buffer + n.input.channels, n.input.channels, true);
    }
  }
  return table;
}

}  // namespace phyllo::inline PHYLLO_ISA
