// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Values back at the maxima of windows, and their gradient, against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/backend/host/unpooling.hpp>
#include <phyllo/backend/reference/unpooling.hpp>

#include <backend/portable/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class P> void compare_unpooling(int batch, Shape const& image, Window const& window) {
  using Op = op::Unpooling;
  using S = typename P::storage;
  Shape const pooled = window.output(image, image.channels);
  long const numbers_there = long(batch) * image.size(), windows = long(batch) * pooled.size();
  auto maxima = numbers<S>(numbers_there, 1);
  // Ties: the first one counts.
  for (long i = 0; i + 1 < numbers_there; i += 3) maxima.data()[i + 1] = maxima.data()[i];
  auto const x = numbers<S>(windows, 2), d_y = numbers<S>(numbers_there, 3);
  INFO("batch ", batch, " channels ", image.channels, " spatial ", image.spatial[0], " ",
       image.spatial[1], " ", image.spatial[2], " window ", window.size[1], " ", window.size[2],
       " stride ", window.stride[1], " ", window.stride[2]);
  compare<Op, P, host::Kernels>(
      Op::Forward<P>{batch, pooled, image, window, x.data(), maxima.data(), nullptr}, 0,
      output<S>(numbers_there, [](auto& w, S* p) { w.y = p; }));
  for (bool const added : {false, true})
    compare<Op, P, host::Kernels>(
        Op::Backward<P>{batch, pooled, image, window, maxima.data(), d_y.data(), nullptr, added},
        added ? bound<P>() : 0, output<S>(windows, added, [](auto& w, S* p) { w.d_x = p; }));
}

}  // namespace

TEST_CASE_TEMPLATE("openmp: values back at the maxima of windows", P, PHYLLO_TEST_PRECISIONS) {
  Window pairs;
  pairs.size[2] = pairs.stride[2] = 2;
  Window spread = pairs;  // windows with gaps between
  spread.size[1] = spread.size[2] = 2;
  spread.stride[1] = spread.stride[2] = 3;
  Window padded = pairs;
  for (int d = 1; d < 3; ++d) {
    padded.size[d] = padded.stride[d] = 5;
    padded.padding[d] = 2;
  }
  compare_unpooling<P>(2, Shape{17, 1101}, pairs);
  compare_unpooling<P>(3, Shape{1, 7}, pairs);
  for (Window const& w : {spread, padded}) {
    compare_unpooling<P>(2, Shape{18, 31, 29}, w);
    compare_unpooling<P>(1, Shape{3, 5, 600}, w);
  }
  compare_unpooling<P>(0, Shape{3, 4}, pairs);
}

#endif
