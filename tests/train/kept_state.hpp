// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

namespace phyllo::test {

// Everything that a step may change and that later ones read, but for the scale of the loss, which
// an overflow halves.
template <class T> std::vector<double> kept_of(T& trainer) {
  trainer.exec().fence("phyllo tests: kept state");
  std::vector<double> all;
  auto const append = [&](auto const& view) {
    for (std::size_t i = 0; i < view.size(); ++i) all.push_back(double(view.data()[i]));
  };
  append(trainer.model().parameters());
  append(trainer.model().master());
  append(trainer.model().buffers());
  append(trainer.optimizer().state());
  all.push_back(double(trainer.model().state()().step));
  return all;
}

}  // namespace phyllo::test
