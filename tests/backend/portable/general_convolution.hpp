// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/general_convolution.hpp>
#include <phyllo/backend/reference/general_convolution.hpp>
#include <phyllo/core/convolution_options.hpp>

#include <backend/portable/comparison.hpp>

#include <algorithm>

namespace phyllo::test {

/// One convolution's numbers; `image` is what its windows lie on.
struct GeneralConvolutionCase {
  int batch = 1;
  Shape image;
  int outputs = 1;
  detail::ConvolutionOptions options;

  ConvolutionShape shape() const { return options.shape(image, options.grid_of(image, outputs)); }
};

/// A convolution of a rank from one row of sizes; padding is as much as its mode can fill, and the
/// image grows until the window fits.
inline GeneralConvolutionCase general_convolution(SizeRow const& pick, int rank) {
  GeneralConvolutionCase c;
  auto& o = c.options;
  o.mode = PaddingMode(pick.row % 4);
  o.groups = pick.row / 4 % 3 == 0 ? 1 : pick.row / 4 % 3 == 1 ? 2 : pick(1, 17);
  int const each = pick.row / 4 % 3 == 2 ? 1 : pick(3, 9);  // channels of a group: one is depthwise
  c.batch = pick(0, 3);
  c.image = Shape{o.groups * each};
  c.image.rank = rank;
  c.outputs = o.groups * (pick.row / 4 % 3 == 2 ? 1 + pick.row % 8 / 6 : pick(2, 17));
  for (int d = 3 - rank; d < 3; ++d) {
    o.window.size[d] = pick(4 + d, rank == 3 ? 2 : 4);
    o.window.stride[d] = pick(5 + d, 3);
    o.dilation[d] = pick.row % 5 == 0 ? 1 : pick(6 + d, 3);
    c.image.spatial[d] = pick(7 + d, rank == 1 ? 33 : rank == 2 ? 7 : 4);
    int const most = o.mode == PaddingMode::zeros || o.mode == PaddingMode::replicate
                         ? 3
                         : c.image.spatial[d] - (o.mode == PaddingMode::reflect ? 1 : 0);
    o.window.padding[d] = std::min(most, pick(8 + d, 4) - 1);
    o.after[d] = std::min(most, pick(9 + d % 3, 4) - 1);
    int const padded = c.image.spatial[d] + o.window.padding[d] + o.after[d];
    c.image.spatial[d] += std::max(0, o.reach(d) - padded);
  }
  return c;
}

/// The passes of a convolution and of its adjoint by a backend against the reference: with and
/// without an epilogue, written and added, gradients of a plain and of a transposed one.
template <class Chain, class P, template <class, class> class Tested = portable::Kernels>
void compare_general_convolution(GeneralConvolutionCase const& c) {
  using Op = op::GeneralConvolution<Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  ConvolutionShape const s = c.shape();
  long const images = long(c.batch) * s.image.size(), grids = long(c.batch) * s.grid.size();
  auto const image = numbers<S>(images, 1), grid = numbers<S>(grids, 2),
             weight = numbers<S>(s.weights(), 3),
             bias = numbers<S>(std::max(s.image.channels, s.grid.channels), 4);
  INFO("batch ", c.batch, " channels ", s.image.channels, " outputs ", c.outputs, " groups ",
       s.groups, " mode ", int(s.mode), " image ", s.image.spatial[0], " ", s.image.spatial[1], " ",
       s.image.spatial[2], " window ", s.size[0], " ", s.size[1], " ", s.size[2], " stride ",
       s.stride[0], " ", s.stride[1], " ", s.stride[2], " dilation ", s.dilation[0], " ",
       s.dilation[1], " ", s.dilation[2], " before ", s.before[0], " ", s.before[1], " ",
       s.before[2]);
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  auto const place = [](auto& w, S* p) { w.result.y = p; };
  auto const keep = [](auto& w, S* p) { w.result.saved = p; };
  auto const both_ways = [&]<class Work>(Work work, S const* from, long results) {
    work.batch = c.batch;
    work.shape = s;
    work.x = from;
    work.weight = weight.data();
    if constexpr (Chain::length == 0) {
      work.result.accumulate = true;
      compare<Op, P, Tested>(work, bound<P>(), output<S>(results, true, place));
      work.result.accumulate = false;
      compare<Op, P, Tested>(work, bound<P>(), output<S>(results, place));
    } else {
      work.result.bias = bias.data();
      work.result.random = {&state, 2};
      compare<Op, P, Tested>(work, bound<P>(), output<S>(results, place), output<S>(results, keep));
    }
  };
  both_ways(typename Op::template Gather<P>{}, image.data(), grids);
  both_ways(typename Op::template Spread<P>{}, grid.data(), images);
  if constexpr (Chain::length == 0)
    for (bool const transposed : {false, true}) {
      typename Op::template BackwardParameters<P> work;
      work.batch = c.batch;
      work.shape = s;
      work.image = image.data();
      work.grid = grid.data();
      work.transposed = transposed;
      compare<Op, P, Tested>(work, 8 * bound<Full<A>>(),
                             workspace<A>(Op::work_count(s), [](auto& w, A* p) { w.partial = p; }),
                             output<A>(s.weights(), [](auto& w, A* p) { w.d_weight = p; }),
                             output<A>(transposed ? s.image.channels : s.grid.channels,
                                       [](auto& w, A* p) { w.d_bias = p; }));
    }
}

/// All of it over drawn cases, `every` row of sizes.
template <class P, template <class, class> class Tested>
void compare_general_convolutions(int every) {
  for_size_rows([&](SizeRow const& pick) {
    if (pick.row % every == 0)
      for (int rank = 1; rank <= 3; ++rank)
        compare_general_convolution<op::Chain<>, P, Tested>(general_convolution(pick, rank));
  });
}

}  // namespace phyllo::test
