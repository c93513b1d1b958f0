// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/backend/portable/segment.hpp>
#include <phyllo/backend/reference/segment.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>

#include <backend/portable/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// Extents at and around vectors; a layer without bias, without chain, with a random one.
using SomeLayers =
    op::Segment<op::Dense<7, 17, true, op::Chain<Tanh>>, op::Dense<17, 16, false, op::Chain<>>,
                op::Dense<16, 33, true, op::Chain<GELU, Dropout<0.2>>>,
                op::Dense<33, 3, true, op::Chain<ReLU>>>;
constexpr int inputs = 7, outputs = 3;
// Each tensor of the arena: weight (in, out), then bias.
constexpr int weight[] = {0, 7 * 17 + 17, 7 * 17 + 17 + 17 * 16,
                          7 * 17 + 17 + 17 * 16 + 16 * 33 + 33};
constexpr int bias[] = {7 * 17, 0, weight[2] + 16 * 33, weight[3] + 33 * 3};
constexpr int parameters = bias[3] + 3;

template <class P, class S>
typename SomeLayers::template Forward<P> forward_of(int batch, S const* x, S const* p,
                                                    StepState const* state) {
  typename SomeLayers::template Forward<P> work;
  work.batch = batch;
  work.x = x;
  work.parameters = p;
  for (int l = 0; l < SomeLayers::length; ++l) {
    work.weight[l] = weight[l];
    work.bias[l] = bias[l];
    work.position[l] = 2 * l;
  }
  work.random = {state, 5};
  return work;
}

template <class L, class P> void compare_step(int batch) {
  using Op = op::WholeStep<SomeLayers, L>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11, .loss_scale = 64};
  auto const x = numbers<S>(long(batch) * inputs, 1), p = numbers<S>(parameters, 2);
  std::vector<double> wanted(std::size_t(batch) * outputs);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = L::classes ? double(i % 3) : double(random_uniform(3, 0, 0, i, 0));
  typename Op::template Run<P> work;
  work.forward = forward_of<P>(batch, x.data(), p.data(), &state);
  work.weight = 0.5f;
  work.targets.data[0] = wanted.data();
  work.targets.type = ElementType::f64;
  work.targets.sample_stride = outputs;
  work.targets.channel_stride = 1;
  work.state = &state;
  work.parameter_count = parameters;
  // In 16 bits each layer rounds its values and gradients, not always to the same neighbour.
  double const steps = sizeof(S) == 2 ? 4 : 1;
  compare<Op, P>(work, steps * bound<P>(),
                 output<A>(parameters, [](auto& w, A* q) { w.gradients = q; }),
                 output<A>(batch, [](auto& w, A* q) { w.values = q; }),
                 output<A>(batch, [](auto& w, A* q) { w.correct = q; }),
                 workspace<A>(long(Op::blocks) * parameters, [](auto& w, A* q) { w.partial = q; }));
}

}  // namespace

TEST_CASE_TEMPLATE("portable: segments", P, PHYLLO_TEST_PRECISIONS) {
  using S = typename P::storage;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  auto const p = numbers<S>(parameters, 2);
  for (int const batch : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 200}) {
    auto const x = numbers<S>(long(batch) * inputs, 1);
    StepState const* const states[] = {nullptr, &state};
    for (StepState const* const s : states)
      compare<SomeLayers, P>(forward_of<P>(batch, x.data(), p.data(), s), bound<P>(),
                             output<S>(long(batch) * outputs, [](auto& w, S* y) { w.y = y; }));
  }
}

TEST_CASE_TEMPLATE("portable: whole steps", P, Full<double>, Full<float>, Mixed<bf16, float>) {
  for (int const batch : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 200}) {
    compare_step<MeanSquaredError, P>(batch);
    compare_step<CrossEntropy, P>(batch);
  }
}
