// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/nodes.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// What a parameter tensor does in its layer. Rules often treat vectors differently from matrices.
enum class TensorUse : std::uint8_t {
  weight,  // matrix, convolution kernel or table of an embedding
  bias,    // vector that is added
  scale,   // vector of factors, such as that of a normalisation
};

/// One parameter tensor of a network, in the order of the parameter arena.
struct NetworkTensor {
  int offset = 0;  // of its first element in the arena
  int count = 0;   // elements
  int extent = 0;  // the same with its padding: up to the next tensor
  int node = 0;    // position of its layer in the program
  Role layer = {};
  TensorUse use = TensorUse::weight;
  char const* name = "";  // torch's, without the path of the layer
};

/// All parameter tensors of a network. They cover the arena without gaps.
template <int N> struct NetworkTensors {
  NetworkTensor tensor[N * Node::most_parameters];
  int size = 0;  // tensors in use
};

constexpr TensorUse use_of(ParameterTensor const& t) {
  if (t.file_rank > 1) return TensorUse::weight;
  bool const multiplies = t.initial == Initial::one || t.initial_value != 0;
  return multiplies ? TensorUse::scale : TensorUse::bias;
}

template <int N> constexpr NetworkTensors<N> network_tensors(Nodes<N> const& nodes) {
  NetworkTensors<N> all;
  for (int i = 0; i < nodes.size; ++i) {
    Node const& n = nodes.node[i];
    for (ParameterTensor const& t : n.parameter)
      if (t.count > 0)
        all.tensor[all.size++] = {t.offset, t.count, 0, i, n.role, use_of(t), t.name};
  }
  for (int k = 0; k < all.size; ++k) {
    int const end = k + 1 < all.size ? all.tensor[k + 1].offset : nodes.arena_size;
    all.tensor[k].extent = end - all.tensor[k].offset;
  }
  return all;
}

}  // namespace phyllo::inline PHYLLO_ISA
