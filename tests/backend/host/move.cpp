// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves as copies of runs and transposed blocks against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/portable/move.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: moves by a map", P, PHYLLO_TEST_PRECISIONS) {
  compare_moves<P, host::Kernels>();
}
TEST_CASE("openmp: moves across blocks of a transposition and of a row of sums") {
  for (int const channels : {1, 33, 520}) {
    Shape const s{channels, 3, 37};
    compare_move<Full<float>, host::Kernels>(MoveMap::reshaped(s, {s.size()}), 2);
    for (PaddingMode const mode :
         {PaddingMode::reflect, PaddingMode::replicate, PaddingMode::circular}) {
      MoveAxis border = MoveMap::of(s).axis[2];
      border.begin = -3, border.extent += 7, border.mode = mode;
      compare_move<Full<double>, host::Kernels>(MoveMap::of(s).with(2, border), 3);
      compare_move<Mixed<bf16, float>, host::Kernels>(MoveMap::of(s).with(2, border), 1);
    }
    MoveAxis copied = MoveMap::of(s).axis[2];
    copied.repeat = 3, copied.extent *= 3;
    compare_move<Full<float>, host::Kernels>(MoveMap::of(s).with(2, copied), 2);
  }
}

#endif
