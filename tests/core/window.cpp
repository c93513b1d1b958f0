// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/core/window.hpp>

using phyllo::Shape;
using phyllo::Window;

namespace {

// Number of places where a window of `size` fits, counted one by one.
int places(int extent, int size, int stride, int padding) {
  int count = 0;
  for (int begin = -padding; begin + size <= extent + padding; begin += stride) ++count;
  return count;
}

}  // namespace

TEST_CASE("the output extent is the number of places of the window") {
  for (int extent = 1; extent <= 12; ++extent)
    for (int size = 1; size <= 5; ++size)
      for (int stride = 1; stride <= 4; ++stride)
        for (int padding = 0; padding <= 2; ++padding) {
          Window const w{{1, 1, size}, {1, 1, stride}, {0, 0, padding}};
          Shape const line{3, extent};
          int const expected = places(extent, size, stride, padding);
          REQUIRE(w.fits(line) == (expected > 0));
          if (expected > 0) REQUIRE(w.output(line, 7) == Shape{7, expected});
        }
}

TEST_CASE("a window has an extent, a stride and a padding for each dimension") {
  constexpr Window w{{2, 3, 5}, {1, 2, 3}, {0, 1, 2}};
  static_assert(w.taps() == 30);
  static_assert(w.output(Shape{1, 4, 7, 10}, 6) == Shape{6, 3, 4, 4});
  static_assert(w.fits(Shape{1, 2, 1, 1}));
  static_assert(!w.fits(Shape{1, 1, 1, 1}));
  CHECK(Window{}.output(Shape{3, 4, 5}, 3) == Shape{3, 4, 5});
}

TEST_CASE("the least shape fits and is not smaller") {
  constexpr Window w{{1, 3, 5}, {1, 1, 1}, {0, 0, 1}};
  static_assert(w.least(Shape{4}, 2) == Shape{4, 3, 3});
  static_assert(w.least(Shape{4, 28}, 2) == Shape{4, 3, 28});
  static_assert(w.least(Shape{4, 9, 2}, 2) == Shape{4, 9, 3});
  static_assert(w.least(Shape{4, 8, 9, 2}, 2) == Shape{4, 9, 3});
  CHECK(w.fits(w.least(Shape{4}, 2)));
}
