// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cases.hpp"

namespace perf {

/// Serves a training step of a network for the patterns of examples/07_diffraction: 1 x 120 x 85
/// pixels, 27 classes. `checked` and `last` as training_case has them.
template <class Net, class P>
int serve_pattern_training(char const* name, std::string const& dtype, long checked = 1,
                           long last = 0) {
  auto const c = measure_ceilings();
  constexpr long batch = batch_of(8, 256);
  auto const labels =
      filled<Vector<int>>("labels", [](std::size_t n) { return n * 7 % 27; }, batch);
  return serve(name, backend_of<Net, P>(), dtype, c,
               {training_case<Net, CrossEntropy, P>(c, batch, labels, checked, last)});
}

}  // namespace perf
