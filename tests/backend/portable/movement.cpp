// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/backend/portable/movement.hpp>
#include <phyllo/backend/portable/pointwise.hpp>
#include <phyllo/backend/reference/movement.hpp>
#include <phyllo/backend/reference/pointwise.hpp>
#include <phyllo/layer/gelu.hpp>

#include <backend/portable/move.hpp>
#include <backend/portable/transfer_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

// Moves are exact; a sum of two numbers has one rounding, of which there is one right result.

TEST_CASE_TEMPLATE("portable: copies of channels", P, PHYLLO_TEST_PRECISIONS) {
  using S = typename P::storage;
  for_size_rows([](SizeRow const& pick) {
    op::Copy::Forward<P> work;
    work.rows = pick.row % 11 == 5 ? 0 : pick(0);
    work.channels = pick(1);
    work.from = pick(2) - 1;
    work.to = pick(3) - 1;
    work.x_channels = work.from + work.channels + pick(4) - 1;
    work.y_channels = work.to + work.channels + pick(5) - 1;
    auto const x = numbers<S>(work.rows * work.x_channels, 1);
    work.x = x.data();
    work.accumulate = pick.row % 2 == 0;
    // Channels beside the copied ones stay as they are: numbers, also where nothing is added.
    compare<op::Copy, P>(
        work, 0, output<S>(work.rows * work.y_channels, true, [](auto& w, S* p) { w.y = p; }));
  });
}

TEST_CASE_TEMPLATE("portable: moves by a map", P, PHYLLO_TEST_PRECISIONS) {
  compare_moves<P, portable::Kernels>();
}

TEST_CASE_TEMPLATE("portable: sums of two values", P, PHYLLO_TEST_PRECISIONS) {
  using Op = op::Add<op::Chain<GELU>>;
  using S = typename P::storage;
  for_size_rows([](SizeRow const& pick) {
    typename Op::template Forward<P> work;
    work.batch = pick.row % 11 == 5 ? 0 : pick(0);
    work.size = pick(1) * pick(2, 3);
    long const size = long(work.batch) * work.size;
    auto const a = numbers<S>(size, 1), b = numbers<S>(size, 2);
    work.a = a.data();
    work.b = b.data();
    auto const y = output<S>(size, [](auto& w, S* p) { w.y = p; });
    if (pick.row % 2 == 0)
      compare<Op, P>(work, bound<P>(), y, output<S>(size, [](auto& w, S* p) { w.saved = p; }));
    else
      compare<Op, P>(work, bound<P>(), y);
  });
}

TEST_CASE("portable: transfers between the caller's tensors and slots") {
  compare_transfers<portable::Kernels>();
}
