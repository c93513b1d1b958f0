// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../suite/networks.hpp"

#include <algorithm>
#include <vector>

namespace perf {

/// A weight or a bias in the gradient arena, in elements.
struct Tensor {
  long offset = 0, size = 0;
};

/// All that one sum for each tensor sends: the tensors from the last layer to the first, before
/// them what travels behind the gradients.
template <class Net> std::vector<Tensor> tensors_of() {
  using ModelType = Model<Net, Full<float>>;
  std::vector<Tensor> tensors;
  for (ParameterEntry const& entry : parameter_table<Net>())
    if (!entry.is_buffer) tensors.push_back({entry.offset, entry.size()});
  long const arena = Net::program::nodes.arena_size;
  tensors.push_back({arena, ModelType::gradient_size - arena});
  std::reverse(tensors.begin(), tensors.end());
  return tensors;
}

}  // namespace perf
