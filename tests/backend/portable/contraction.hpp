// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/contraction.hpp>
#include <phyllo/backend/reference/contraction.hpp>

#include <backend/portable/comparison.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace phyllo::test {

/// One contraction's extents.
struct ContractionCase {
  int batch = 0;
  Shape input;
  int outputs = 0;
  Window window;
};

/// The window of columns 4 to 6 and the input of columns 7 and up; padding grows until the window
/// fits. The sizes of two and three dimensions are folded to keep the number of taps small.
inline ContractionCase convolution(SizeRow const& pick, int rank) {
  int const widest = rank == 1 ? 33 : rank == 2 ? 9 : 4;
  int const taps = rank == 1 ? 33 : 4;
  ContractionCase c;
  c.batch = pick(0, rank == 1 ? 33 : 3);
  c.outputs = pick(2);
  c.input = Shape{pick(1)};
  c.input.rank = rank;
  for (int d = 3 - rank; d < 3; ++d) {
    c.input.spatial[d] = pick(3 + d, widest);
    c.window.size[d] = pick(6 + d, taps);
    c.window.stride[d] = pick(9 + (d + pick.row) % 3, taps);
    int const missing = c.window.size[d] - c.input.spatial[d];
    c.window.padding[d] = std::max((missing + 1) / 2, pick(9 + d, taps) % 4);
  }
  return c;
}

/// The three passes of a contraction without epilogue, with and without bias, both ways to leave
/// the gradient of the input. `errors`: how many times those of the type a backend's products have.
template <class P, template <class, class> class Tested = portable::Kernels>
void compare_contraction(ContractionCase const& c, bool with_bias, double errors = 1) {
  using Op = op::Contraction<op::Chain<>>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  Shape const shape = c.window.output(c.input, c.outputs);
  long const weights = long(c.window.taps()) * c.input.channels * c.outputs;
  long const inputs = long(c.batch) * c.input.size(), outputs = long(c.batch) * shape.size();
  auto const x = numbers<S>(inputs, 1), weight = numbers<S>(weights, 2),
             bias = numbers<S>(c.outputs, 3), d_z = numbers<S>(outputs, 4);
  INFO("batch ", c.batch, " channels ", c.input.channels, " outputs ", c.outputs, " spatial ",
       c.input.spatial[0], " ", c.input.spatial[1], " ", c.input.spatial[2], " window ",
       c.window.size[0], " ", c.window.size[1], " ", c.window.size[2], " stride ",
       c.window.stride[0], " ", c.window.stride[1], " ", c.window.stride[2], " padding ",
       c.window.padding[0], " ", c.window.padding[1], " ", c.window.padding[2]);

  typename Op::template Forward<P> forward;
  forward.batch = c.batch;
  forward.input = c.input;
  forward.output = shape;
  forward.window = c.window;
  forward.x = x.data();
  forward.weight = weight.data();
  forward.bias = with_bias ? bias.data() : nullptr;
  compare<Op, P, Tested>(forward, errors * bound<P>(),
                         output<S>(outputs, [](auto& w, S* p) { w.y = p; }));

  for (bool const added : {false, true}) {
    typename Op::template BackwardInput<P> backward;
    backward.batch = c.batch;
    backward.input = c.input;
    backward.output = shape;
    backward.window = c.window;
    backward.d_z = d_z.data();
    backward.weight = weight.data();
    backward.accumulate = added;
    compare<Op, P, Tested>(backward, errors * bound<P>(),
                           output<S>(inputs, added, [](auto& w, S* p) { w.d_x = p; }));
  }

  typename Op::template BackwardParameters<P> parameters;
  parameters.batch = c.batch;
  parameters.input = c.input;
  parameters.output = shape;
  parameters.window = c.window;
  parameters.x = x.data();
  parameters.d_z = d_z.data();
  // Where kernels sum by parts, with and without their workspace, in which nothing is promised.
  std::vector<A> partial;
  if constexpr (kernel_traits<Tested<Op, P>>.partial_count > 0)
    if (c.batch % 2 == 0)
      partial.assign(std::size_t(kernel_traits<Tested<Op, P>>.partial_count),
                     std::numeric_limits<A>::quiet_NaN());
  parameters.partial = partial.empty() ? nullptr : partial.data();
  // Sums in the accumulation type, whatever the storage.
  double const sums = errors * bound<Full<A>>();
  if (with_bias)
    compare<Op, P, Tested>(parameters, sums,
                           output<A>(weights, [](auto& w, A* p) { w.d_weight = p; }),
                           output<A>(c.outputs, [](auto& w, A* p) { w.d_bias = p; }));
  else
    compare<Op, P, Tested>(parameters, sums,
                           output<A>(weights, [](auto& w, A* p) { w.d_weight = p; }));
}

/// What can follow a product.
struct Epilogue {
  bool bias = false, folded = false, saved = false, training = false;
};
/// A product with a chain and what can follow it, by a backend against the reference.
template <class Chain, class P, template <class, class> class Kernels>
void compare_epilogue(int batch, Shape input, int outputs, Epilogue const& with,
                      Window const& window = {}) {
  using Op = op::Contraction<Chain>;
  using S = typename P::storage;
  CAPTURE(batch);
  CAPTURE(input.channels);
  CAPTURE(outputs);
  typename Op::template Forward<P> work;
  work.batch = batch;
  work.input = input;
  work.window = window;
  work.output = window.output(input, outputs);
  long const count = long(batch) * work.output.size();
  auto const x = numbers<S>(long(batch) * input.size(), 1),
             weight = numbers<S>(long(window.taps()) * input.channels * outputs, 2),
             bias = numbers<S>(outputs, 3), scale = numbers<S>(outputs, 4),
             shift = numbers<S>(outputs, 5);
  auto const mean = numbers<float>(outputs, 6);
  auto variance = numbers<float>(outputs, 7);
  for (int c = 0; c < outputs; ++c) variance.data()[c] += 1.5f;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  work.x = x.data();
  work.weight = weight.data();
  work.bias = with.bias ? bias.data() : nullptr;
  if (with.folded) work.fold = {mean.data(), variance.data(), scale.data(), shift.data(), 1e-5f};
  work.random = {with.training ? &state : nullptr, 4};
  auto const y = output<S>(count, [](auto& w, S* p) { w.y = p; });
  if (with.saved)
    compare<Op, P, Kernels>(work, bound<P>(), y,
                            output<S>(count, [](auto& w, S* p) { w.saved = p; }));
  else
    compare<Op, P, Kernels>(work, bound<P>(), y);
}

}  // namespace phyllo::test
