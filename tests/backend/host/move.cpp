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
// Planes of two, four and eight vectors, of few rows and of few columns; each in a batch that
// moves them one by one, and in one that moves neighbours together.
TEST_CASE_TEMPLATE("openmp: small planes of a transposition", P, Full<float>, Full<double>,
                   Mixed<bf16, float>) {
  for (int const batch : {1, 40})
    for (int const channels : {6, 8, 12, 16, 32, 64}) {
      Shape const s{channels, 3, 5};
      compare_move<P, host::Kernels>(ChannelShuffle<2>::map(s), batch);
      if (channels % 3 == 0) compare_move<P, host::Kernels>(ChannelShuffle<3>::map(s), batch);
      if (channels % 4 != 0) continue;
      compare_move<P, host::Kernels>(ChannelShuffle<4>::map(s), batch);
      compare_move<P, host::Kernels>(PixelShuffle<2>::map(s), batch);
      compare_move<P, host::Kernels>(PixelShuffle<2>::map(s).inverse(), batch);
      if (channels % 16 == 0) compare_move<P, host::Kernels>(PixelShuffle<4>::map(s), batch);
    }
}

#endif
