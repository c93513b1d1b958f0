// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention in one kernel, products by head, and positions.

#include <phyllo/layer/dropout.hpp>

#include <backend/portable/attention_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: attention", P, PHYLLO_TEST_PRECISIONS) {
  compare_attentions<3, op::Chain<>, P, portable::Kernels>();
}
TEST_CASE("portable: attention with a dropout of weights") {
  compare_attention<4, op::Chain<Dropout<0.3>>, Full<float>, portable::Kernels>(
      {2, 2, 9, 70, true, true, true});
}
TEST_CASE("portable: positions") {
  using P = Full<float>;
  compare_positions<op::PositionKind::learned, P, portable::Kernels>(3, 5, 8);
  compare_positions<op::PositionKind::sinusoidal, P, portable::Kernels>(40, 5, 12);
  compare_positions<op::PositionKind::rotary, P, portable::Kernels>(3, 5, 8);
}

// The sums of a product whose operands are matrices of heads, one of them transposed.
TEST_CASE_TEMPLATE("portable: product", P, PHYLLO_TEST_PRECISIONS) {
  using S = typename P::storage;
  int const batch = 3, heads = 2, rows = 5, columns = 7, depth = 4;
  auto const a = numbers<S>(batch * rows * heads * depth, 1),
             b = numbers<S>(batch * columns * heads * depth, 2);
  op::Product::Forward<P> work;
  work.batch = batch;
  work.heads = heads;
  work.rows = rows;
  work.columns = columns;
  work.depth = depth;
  work.factor = typename P::accumulate(0.5);
  work.a = a.data();
  work.b = b.data();
  work.a_place = {rows * heads * depth, depth, heads * depth, 1};
  work.b_place = {columns * heads * depth, depth, 1, heads * depth};
  work.y_place = {heads * rows * columns, rows * columns, columns, 1};
  long const size = batch * heads * rows * columns;
  for (bool const added : {false, true}) {
    work.accumulate = added;
    compare<op::Product, P>(work, bound<P>(),
                            output<S>(size, added, [](auto& w, S* p) { w.y = p; }));
  }
}
