// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/backend/portable/pointwise.hpp>
#include <phyllo/backend/reference/pointwise.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/sigmoid.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class Chain, class P> void compare_pointwise() {
  using Op = op::Pointwise<Chain>;
  using S = typename P::storage;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  for_size_rows([&](SizeRow const& pick) {
    int const batch = pick.row % 11 == 5 ? 0 : pick(0), size = pick(1);
    long const all = long(batch) * size;
    auto const x = numbers<S>(all, 1), d_y = numbers<S>(all, 2);
    Randomness const random{pick.row % 2 == 0 ? &state : nullptr, pick(2)};
    compare<Op, P>(typename Op::template Forward<P>{batch, size, x.data(), nullptr, random},
                   bound<P>(), output<S>(all, [](auto& w, S* p) { w.y = p; }));
    S const* const saved = Chain::derivative_of == Derivative::nothing ? nullptr : x.data();
    for (bool const added : {false, true})
      compare<Op, P>(
          typename Op::template Backward<P>{batch, size, saved, d_y.data(), nullptr, added, random},
          bound<P>(), output<S>(all, added, [](auto& w, S* p) { w.d_x = p; }));
    // In place: the gradient is multiplied where it is.
    compare<Op, P>(
        typename Op::template Backward<P>{batch, size, saved, nullptr, nullptr, false, random},
        bound<P>(), output<S>(all, true, [](auto& w, S* p) { w.d_y = w.d_x = p; }));
  });
}

}  // namespace

TEST_CASE_TEMPLATE("portable: pointwise chains", P, PHYLLO_TEST_PRECISIONS) {
  compare_pointwise<op::Chain<ReLU>, P>();
  compare_pointwise<op::Chain<Dropout<0.3>>, P>();
  compare_pointwise<op::Chain<Tanh, Dropout<0.5>, GELU, Sigmoid>, P>();
}
