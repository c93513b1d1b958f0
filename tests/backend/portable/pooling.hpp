// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/pooling.hpp>
#include <phyllo/backend/reference/pooling.hpp>

#include <backend/portable/comparison.hpp>

#include <algorithm>
#include <limits>

namespace phyllo::test {

/// Pooling by a backend against the reference: with ties.
template <op::PoolingKind Kind, class P, template <class, class> class Kernels = portable::Kernels>
void compare_pooling(int batch, Shape const& input, Window const& window,
                     bool counts_padding = true) {
  using Op = op::Pooling<Kind>;
  using S = typename P::storage;
  Shape const shape = window.output(input, input.channels);
  long const inputs = long(batch) * input.size(), outputs = long(batch) * shape.size();
  auto x = numbers<S>(inputs, 1);
  // Ties, which the gradient resolves to the first.
  for (long i = 0; i + 1 < inputs; i += 3) x.data()[i + 1] = x.data()[i];
  auto const d_y = numbers<S>(outputs, 2);
  INFO("batch ", batch, " channels ", input.channels, " spatial ", input.spatial[0], " ",
       input.spatial[1], " ", input.spatial[2], " window ", window.size[0], " ", window.size[1],
       " ", window.size[2], " stride ", window.stride[2], " padding ", window.padding[2]);
  compare<Op, P, Kernels>(typename Op::template Forward<P>{batch, input, shape, window, x.data(),
                                                           nullptr, counts_padding},
                          Kind == op::PoolingKind::maximum ? 0 : bound<P>(),
                          output<S>(outputs, [](auto& w, S* p) { w.y = p; }));
  for (bool const added : {false, true})
    compare<Op, P, Kernels>(
        typename Op::template Backward<P>{batch, input, shape, window, x.data(), d_y.data(),
                                          nullptr, added, counts_padding},
        bound<P>(), output<S>(inputs, added, [](auto& w, S* p) { w.d_x = p; }));
}

/// Windows of one to three dimensions over sizes at and around blocks.
template <op::PoolingKind Kind, class P, template <class, class> class Kernels = portable::Kernels>
void compare_poolings() {
  for_size_rows([](SizeRow const& pick) {
    for (int rank = 1; rank <= 3; ++rank) {
      int const largest = rank == 1 ? 33 : rank == 2 ? 9 : 4;
      Shape input{pick(1)};
      Window w;
      input.rank = rank;
      for (int d = 3 - rank; d < 3; ++d) {
        input.spatial[d] = pick(3 + d, largest);
        w.size[d] = pick(6 + d, rank == 1 ? 33 : 4);
        // Padding of half a window at most, as the layers have it.
        w.padding[d] = std::min(w.size[d] / 2, pick(9 + d, 17) - 1);
        w.size[d] = std::min(w.size[d], input.spatial[d] + 2 * w.padding[d]);
        w.padding[d] = std::min(w.padding[d], w.size[d] / 2);
        w.size[d] = std::min(w.size[d], input.spatial[d] + 2 * w.padding[d]);
        w.stride[d] = pick(9 + (d + pick.row) % 3, largest);
      }
      compare_pooling<Kind, P, Kernels>(pick(0, rank == 1 ? 33 : 3), input, w);
    }
  });
  compare_pooling<Kind, P, Kernels>(0, Shape{3, 4, 5}, {});
}

/// Images larger than what a kernel may keep in a cache at a time, windows that overlap and that do
/// not, with and without padding.
template <op::PoolingKind Kind, class P, template <class, class> class Kernels>
void compare_large_poolings() {
  Window pairs;
  pairs.size[2] = pairs.stride[2] = 2;
  Window line = pairs;
  line.size[2] = 5;
  line.padding[2] = 2;
  for (Window const& w : {pairs, line}) compare_pooling<Kind, P, Kernels>(2, Shape{17, 1101}, w);
  Window square = pairs;
  square.size[1] = square.stride[1] = 2;
  Window overlapping = square;
  for (int d = 1; d < 3; ++d) {
    overlapping.size[d] = 3;
    overlapping.padding[d] = 1;
  }
  Window wide = overlapping;
  for (int d = 1; d < 3; ++d) wide.size[d] = 5;
  for (Window const& w : {square, overlapping, wide})
    for (bool const counts : {true, false}) {
      compare_pooling<Kind, P, Kernels>(2, Shape{18, 37, 41}, w, counts);
      compare_pooling<Kind, P, Kernels>(1, Shape{3, 5, 600}, w, counts);
    }
  Window cube = overlapping;
  cube.size[0] = 3;
  cube.stride[0] = 2;
  cube.padding[0] = 1;
  compare_pooling<Kind, P, Kernels>(2, Shape{17, 5, 21, 33}, cube);
}

/// A not-a-number among numbers is the maximum, and the first of two gets the gradient.
template <template <class, class> class Kernels> void compare_not_a_number() {
  using Op = op::Pooling<op::PoolingKind::maximum>;
  using P = Full<double>;
  Space const exec;
  Window w;
  w.size[2] = 4;
  for (int place = 0; place < 4; ++place)
    for (int second = place; second < 4; ++second) {
      double x[4] = {1, 4, 2, 3}, y[2] = {}, d_x[4] = {};
      double const d_y = 5;
      x[place] = x[second] = std::numeric_limits<double>::quiet_NaN();
      Op::Forward<P> work{1, Shape{1, 4}, Shape{1, 1}, w, x, &y[0]};
      Kernels<Op, P>::run(exec, "tested", work);
      exec.fence("tested");
      work.y = &y[1];
      reference::Kernels<Op, P>::run(exec, "reference", work);
      CHECK(std::isnan(y[0]));
      CHECK(std::isnan(y[1]));
      Kernels<Op, P>::run(exec, "tested",
                          Op::Backward<P>{1, Shape{1, 4}, Shape{1, 1}, w, x, &d_y, d_x, false});
      exec.fence("tested");
      for (int i = 0; i < 4; ++i) CHECK(d_x[i] == (i == place ? 5 : 0));
    }
}

}  // namespace phyllo::test
