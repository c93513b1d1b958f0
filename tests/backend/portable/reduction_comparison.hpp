// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/reduction.hpp>
#include <phyllo/backend/reference/reduction.hpp>

#include <backend/portable/comparison.hpp>

#include <limits>

namespace phyllo::test {

/// A reduction by a backend against the reference: with ties.
template <op::ReductionKind Kind, class P, template <class, class> class Kernels>
void compare_reduction(int batch, Shape const& input, Shape const& result) {
  using Op = op::Reduction<Kind>;
  using S = typename P::storage;
  long const inputs = long(batch) * input.size(), outputs = long(batch) * result.size();
  auto x = numbers<S>(inputs, 1);
  for (long i = 0; i < inputs; ++i) x.data()[i] = S(float(int(4 * float(x.data()[i]))));
  auto const d_y = numbers<S>(outputs, 2);
  INFO("batch ", batch, " channels ", input.channels, " spatial ", input.spatial[0], " ",
       input.spatial[1], " ", input.spatial[2], " to ", result.channels, " ", result.spatial[0],
       " ", result.spatial[1], " ", result.spatial[2]);
  typename Op::template Forward<P> forward;
  forward.batch = batch;
  forward.windows = {input, result};
  forward.x = x.data();
  Guarded<std::int32_t> expected(outputs), got(outputs);
  Guarded<S> y(outputs);
  compare<Op, P, Kernels>(forward, op::is_maximum(Kind) ? 0 : bound<P>(),
                          output<S>(outputs, [](auto& w, S* p) { w.y = p; }));
  typename Op::template Backward<P> backward;
  if constexpr (op::is_maximum(Kind)) {
    forward.y = y.data();
    forward.chosen = got.data();
    Kernels<Op, P>::run(Space(), "tested", forward);
    Space().fence("tested");
    forward.chosen = expected.data();
    reference::Kernels<Op, P>::run(Space(), "reference", forward);
    CHECK(got.has_bits_of(expected));
    backward.chosen = expected.data();
    backward.x = x.data();
    backward.y = y.data();
  }
  backward.batch = batch;
  backward.windows = forward.windows;
  backward.d_y = d_y.data();
  for (bool const added : {false, true}) {
    backward.accumulate = added;
    compare<Op, P, Kernels>(backward, bound<P>(),
                            output<S>(inputs, added, [](auto& w, S* p) { w.d_x = p; }));
  }
}

/// Whole axes, and windows that divide them evenly, overlap, or are repeated.
template <op::ReductionKind Kind, class P, template <class, class> class Kernels>
void compare_reductions() {
  auto const compare_one = compare_reduction<Kind, P, Kernels>;
  compare_one(2, Shape(3, 17, 5), Shape(3, 1, 1));   // few channels
  compare_one(2, Shape(70, 3, 2), Shape(70, 3, 1));  // more channels than a block
  compare_one(3, Shape(33, 5), Shape(1, 5));         // channels joined
  compare_one(1, Shape(20, 2, 3, 2), Shape(1, 2, 1, 2));
  compare_one(2, Shape(6, 7, 5), Shape(6, 3, 2));        // windows overlap
  compare_one(1, Shape(2, 3, 2, 4), Shape(2, 4, 2, 5));  // more results than numbers
  compare_one(2, Shape(20, 16, 12), Shape(20, 4, 4));    // windows side by side
  compare_one(2, Shape(70, 4, 6), Shape(70, 1, 3));
  compare_one(2, Shape(75, 3, 4), Shape(1, 3, 4));  // many channels joined
  compare_one(3, Shape(16, 5), Shape(1, 5));        // a vector of them
  compare_one(2, Shape(64, 3, 7), Shape(1, 3, 7));
  compare_one(1, Shape(300, 2), Shape(1, 2));
  compare_one(0, Shape(3, 4), Shape(3, 1));
}

/// The bits of a position whose channels are joined do not depend on how many others there are.
template <op::ReductionKind Kind, class P, template <class, class> class Kernels>
void compare_joined_alone() {
  using Op = op::Reduction<Kind>;
  using S = typename P::storage;
  constexpr int rows = 37, channels = 53;
  auto const x = numbers<S>(rows * channels, 1);
  S together[rows], alone[rows];
  typename Op::template Forward<P> forward;
  forward.batch = rows;
  forward.windows = {Shape(channels, 1), Shape(1, 1)};
  forward.x = x.data();
  forward.y = together;
  Kernels<Op, P>::run(Space(), "tested", forward);
  forward.batch = 1;
  for (int r = 0; r < rows; ++r, forward.x += channels) {
    forward.y = alone + r;
    Kernels<Op, P>::run(Space(), "tested", forward);
  }
  Space().fence("tested");
  for (int r = 0; r < rows; ++r) CHECK(float(together[r]) == float(alone[r]));
}

/// A not-a-number is the maximum, and the gradient goes to it.
template <op::ReductionKind Kind, template <class, class> class Kernels>
void compare_not_a_number_reduced() {
  using Op = op::Reduction<Kind>;
  using P = Full<double>;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const x[2][4] = {{1, nan, 4, nan}, {nan, 2, 3, 1}}, d_y[2] = {6, 5};
  double y[2] = {}, d_x[2][4] = {};
  std::int32_t chosen[2] = {};
  typename Op::template Forward<P> forward;
  forward.batch = 2;
  forward.windows = {Shape(1, 4), Shape(1, 1)};
  forward.x = x[0];
  forward.y = y;
  forward.chosen = chosen;
  Kernels<Op, P>::run(Space(), "tested", forward);
  typename Op::template Backward<P> backward;
  backward.batch = 2;
  backward.windows = forward.windows;
  backward.x = x[0];
  backward.y = y;
  backward.d_y = d_y;
  backward.chosen = chosen;
  backward.d_x = d_x[0];
  Kernels<Op, P>::run(Space(), "tested", backward);
  Space().fence("tested");
  for (int const place : {0, 17, 39, 40}) {  // of the channels of one position
    double row[41] = {}, most = 0;
    row[place] = nan;
    typename Op::template Forward<P> joined;
    joined.batch = 1;
    joined.windows = {Shape(41, 1), Shape(1, 1)};
    joined.x = row;
    joined.y = &most;
    Kernels<Op, P>::run(Space(), "tested", joined);
    Space().fence("tested");
    CHECK(std::isnan(most));
  }
  bool const shared = Kind == op::ReductionKind::maximum;
  double const expected[2][4] = {{0, shared ? 3.0 : 6.0, 0, shared ? 3.0 : 0.0}, {5, 0, 0, 0}};
  for (int n = 0; n < 2; ++n) {
    CHECK(std::isnan(y[n]));
    for (int i = 0; i < 4; ++i) CHECK(d_x[n][i] == expected[n][i]);
  }
}

template <class P, template <class, class> class Kernels> void compare_all_reductions() {
  using K = op::ReductionKind;
  compare_reductions<K::mean, P, Kernels>();
  compare_reductions<K::maximum, P, Kernels>();
  compare_reductions<K::first_maximum, P, Kernels>();
}

}  // namespace phyllo::test
