// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/core/shape.hpp>

using phyllo::Shape;

TEST_CASE("a shape is written in the field's order and kept with the width last") {
  constexpr Shape volume{2, 3, 5, 7};
  static_assert(volume.channels == 2 && volume.rank == 3);
  static_assert(volume.spatial[0] == 3 && volume.spatial[1] == 5 && volume.spatial[2] == 7);
  static_assert(volume.positions() == 105 && volume.size() == 210);

  constexpr Shape image{4, 5, 6};
  static_assert(image.rank == 2 && image.spatial[0] == 1 && image.spatial[1] == 5);
  constexpr Shape line{4, 6};
  static_assert(line.rank == 1 && line.spatial[1] == 1 && line.spatial[2] == 6);
  constexpr Shape vector{4};
  static_assert(vector.rank == 0 && vector.positions() == 1 && vector.size() == 4);
  CHECK(Shape{}.size() == 0);
}

TEST_CASE("extents count from the channels and leave out what a smaller rank lacks") {
  int const expected[] = {2, 3, 5, 7};
  Shape const volume{2, 3, 5, 7};
  for (int i = 0; i < 4; ++i) CHECK(volume.extent(i) == expected[i]);
  Shape const line{4, 6};
  CHECK(line.extent(0) == 4);
  CHECK(line.extent(1) == 6);
}

TEST_CASE("shapes of equal size and another rank differ") {
  CHECK(Shape{4} == Shape{4});
  CHECK_FALSE(Shape{4} == Shape{4, 1});
  CHECK_FALSE(Shape{4, 6} == Shape{4, 1, 6});
  CHECK_FALSE(Shape{4, 6} == Shape{6, 4});
  CHECK(Shape{4, 6}.with_channels(9) == Shape{9, 6});
}
