// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/contraction.hpp>
#include <phyllo/backend/reference/contraction.hpp>

#include <backend/portable/comparison.hpp>

namespace phyllo::test {

/// One contraction's extents.
struct ContractionCase {
  int batch = 0;
  Shape input;
  int outputs = 0;
  Window window;
};

/// The three passes of a contraction without epilogue, with and without bias, both ways to leave
/// the gradient of the input.
template <class P, template <class, class> class Tested = portable::Kernels>
void compare_contraction(ContractionCase const& c, bool with_bias) {
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
  compare<Op, P, Tested>(forward, bound<P>(), output<S>(outputs, [](auto& w, S* p) { w.y = p; }));

  for (bool const added : {false, true}) {
    typename Op::template BackwardInput<P> backward;
    backward.batch = c.batch;
    backward.input = c.input;
    backward.output = shape;
    backward.window = c.window;
    backward.d_z = d_z.data();
    backward.weight = weight.data();
    backward.accumulate = added;
    compare<Op, P, Tested>(backward, bound<P>(),
                           output<S>(inputs, added, [](auto& w, S* p) { w.d_x = p; }));
  }

  typename Op::template BackwardParameters<P> parameters;
  parameters.batch = c.batch;
  parameters.input = c.input;
  parameters.output = shape;
  parameters.window = c.window;
  parameters.x = x.data();
  parameters.d_z = d_z.data();
  // Sums in the accumulation type, whatever the storage.
  double const sums = bound<Full<A>>();
  if (with_bias)
    compare<Op, P, Tested>(parameters, sums,
                           output<A>(weights, [](auto& w, A* p) { w.d_weight = p; }),
                           output<A>(c.outputs, [](auto& w, A* p) { w.d_bias = p; }));
  else
    compare<Op, P, Tested>(parameters, sums,
                           output<A>(weights, [](auto& w, A* p) { w.d_weight = p; }));
}

}  // namespace phyllo::test
