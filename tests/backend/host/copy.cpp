// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies of channels by rows against plain loops: exact, and a sum of two numbers has one rounding.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/backend/reference/movement.hpp>

#include <backend/portable/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: copies of channels", P, PHYLLO_TEST_PRECISIONS) {
  using S = typename P::storage;
  struct Case {
    long rows;
    int channels, from, to, more;
  };
  for (Case const& c : {Case{0, 3, 0, 0, 0}, Case{5, 3, 1, 2, 4}, Case{700, 40, 0, 0, 0},
                        Case{1, 17, 0, 0, 1}, Case{900, 33, 2, 0, 0}})
    for (bool const added : {false, true}) {
      op::Copy::Forward<P> work;
      work.rows = c.rows;
      work.channels = c.channels;
      work.from = c.from;
      work.to = c.to;
      work.x_channels = c.from + c.channels + c.more;
      work.y_channels = c.to + c.channels + c.more;
      auto const x = numbers<S>(work.rows * work.x_channels, 1);
      work.x = x.data();
      work.accumulate = added;
      compare<op::Copy, P, host::Kernels>(
          work, 0, output<S>(work.rows * work.y_channels, true, [](auto& w, S* p) { w.y = p; }));
    }
}

#endif
