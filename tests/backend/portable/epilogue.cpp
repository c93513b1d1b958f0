// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/backend/portable/contraction.hpp>
#include <phyllo/backend/reference/contraction.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// A contraction with everything that can follow it: bias, folded normalisation, chain, saved input.
template <class Chain, class P> void compare_epilogue(SizeRow const& pick, int batch) {
  using Op = op::Contraction<Chain>;
  using S = typename P::storage;
  typename Op::template Forward<P> work;
  work.batch = batch;
  work.input = Shape{pick(1), pick(2, 5)};
  work.window.size[2] = pick(3, 3);
  work.window.padding[2] = 1;
  work.output = work.window.output(work.input, pick(4));
  long const outputs = long(batch) * work.output.size();
  auto const x = numbers<S>(long(batch) * work.input.size(), 1),
             weight = numbers<S>(
                 long(work.window.taps()) * work.input.channels * work.output.channels, 2),
             bias = numbers<S>(work.output.channels, 3),
             scale = numbers<S>(work.output.channels, 4),
             shift = numbers<S>(work.output.channels, 5);
  auto const mean = numbers<float>(work.output.channels, 6);
  auto variance = numbers<float>(work.output.channels, 7);
  for (int c = 0; c < work.output.channels; ++c) variance.data()[c] += 1.5f;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  work.x = x.data();
  work.weight = weight.data();
  work.bias = pick.row % 2 == 0 ? bias.data() : nullptr;
  if (pick.row % 3 == 0)
    work.fold = {mean.data(), variance.data(), scale.data(), shift.data(), 1e-5f};
  work.random = {pick.row % 2 == 0 ? &state : nullptr, 4};
  auto const y = output<S>(outputs, [](auto& w, S* p) { w.y = p; });
  if (pick.row % 2 == 0)
    compare<Op, P>(work, bound<P>(), y, output<S>(outputs, [](auto& w, S* p) { w.saved = p; }));
  else
    compare<Op, P>(work, bound<P>(), y);
}

}  // namespace

TEST_CASE_TEMPLATE("portable: contractions with an epilogue", P, Full<double>, Mixed<bf16, float>) {
  for_size_rows([](SizeRow const& pick) {
    compare_epilogue<op::Chain<ReLU>, P>(pick, pick(0, 3) - 1);
    compare_epilogue<op::Chain<GELU, Dropout<0.25>, Tanh>, P>(pick, pick(0, 3) - 1);
  });
}
