// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Chains with random numbers, sample by sample, against plain loops: the same numbers for any
// number of pieces.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/backend/reference/pointwise.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>

#include <backend/portable/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class Chain, class P> void check() {
  using S = typename P::storage;
  StepState state;
  state.seed = 7;
  state.forward = 3;
  state.first_sample = 11;
  struct Size {
    int batch, size, channels;
  };
  for (Size const& c : {Size{0, 5, 5}, Size{1, 1, 1}, Size{33, 517, 11}, Size{3, 6000, 40}})
    for (bool const trains : {true, false}) {
      long const all = long(c.batch) * c.size;
      auto const x = numbers<S>(all, 1), d_y = numbers<S>(all, 2);
      Randomness const random{trains ? &state : nullptr, 5, c.channels};
      typename op::Pointwise<Chain>::template Forward<P> forward;
      forward.batch = c.batch;
      forward.size = c.size;
      forward.x = x.data();
      forward.random = random;
      compare<op::Pointwise<Chain>, P, host::Kernels>(
          forward, 4, output<S>(all, false, [](auto& w, S* p) { w.y = p; }));
      for (bool const added : {false, true}) {
        typename op::Pointwise<Chain>::template Backward<P> backward;
        backward.batch = c.batch;
        backward.size = c.size;
        backward.saved = x.data();
        backward.d_y = d_y.data();
        backward.random = random;
        backward.accumulate = added;
        compare<op::Pointwise<Chain>, P, host::Kernels>(
            backward, 8, output<S>(all, added, [](auto& w, S* p) { w.d_x = p; }));
      }
    }
}

}  // namespace

TEST_CASE_TEMPLATE("openmp: pointwise functions with random numbers", P, PHYLLO_TEST_PRECISIONS) {
  check<op::Chain<Dropout<0.3>>, P>();
  check<op::Chain<ChannelDropout<0.5>, ReLU>, P>();
  check<op::Chain<GELU, AlphaDropout<0.2>>, P>();
}

#endif
