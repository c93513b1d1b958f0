// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <backend/portable/contraction.hpp>

#include <algorithm>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// The window of columns 4 to 6 and the input of columns 7 and up; padding grows until the window
// fits. The sizes of two and three dimensions are folded to keep the number of taps small.
ContractionCase convolution(SizeRow const& pick, int rank) {
  int const widest = rank == 1 ? 33 : rank == 2 ? 9 : 4;
  int const taps = rank == 1 ? 33 : 4;
  ContractionCase c;
  c.batch = pick(0, rank == 1 ? 33 : 3);
  c.outputs = pick(2);
  c.input = Shape{pick(1)};
  c.input.rank = rank;
  for (int d = 3 - rank; d < 3; ++d) {
    c.input.spatial[d] = pick(3 + d, widest);
    c.window.size[d] = pick(6 + d, taps);
    c.window.stride[d] = pick(9 + (d + pick.row) % 3, taps);
    int const missing = c.window.size[d] - c.input.spatial[d];
    c.window.padding[d] = std::max((missing + 1) / 2, pick(9 + d, taps) % 4);
  }
  return c;
}

}  // namespace

TEST_CASE_TEMPLATE("portable: convolutions of rank 1", P, Full<double>, Mixed<bf16, float>) {
  for_size_rows(
      [](SizeRow const& pick) { compare_contraction<P>(convolution(pick, 1), pick.row % 2 == 0); });
}
TEST_CASE_TEMPLATE("portable: convolutions of ranks 2 and 3", P, Full<float>, Mixed<fp16, float>) {
  for_size_rows([](SizeRow const& pick) {
    compare_contraction<P>(convolution(pick, 2), pick.row % 2 == 0);
    compare_contraction<P>(convolution(pick, 3), pick.row % 2 == 1);
  });
  ContractionCase none = convolution({0, 0, 0}, 2);
  none.batch = 0;
  compare_contraction<P>(none, true);
}
