// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Normalisation of groups of channels in vectors of channels against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/group_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: group normalisation", P, Full<double> PHYLLO_IN_VERIFY(, Full<float>),
                   Mixed<bf16, float>) {
  compare_group_normalizations<op::Chain<>, P, host::Kernels>();
}
TEST_CASE("openmp: group normalisation with an epilogue") {
  using C = op::Chain<ReLU, Dropout<0.25>>;
  compare_group_normalizations<C, Mixed<fp16, float>, host::Kernels>();
  compare_group_normalization<op::Chain<Tanh>, Full<float>, host::Kernels>(3, 7, 96, 32);
}

/// Far from zero: the squares around the mean, not around zero.
TEST_CASE("openmp: group normalisation of numbers with a large mean") {
  using Op = op::GroupNormalization<op::Chain<>>;
  using P = Full<float>;
  int const positions = 1000, channels = 8;
  auto x = numbers<float>(positions * channels, 1), y = x;
  for (long i = 0; i < x.size(); ++i) x.data()[i] += 4096.0f;
  Op::Forward<P> work;
  work.batch = 1;
  work.positions = positions;
  work.channels = channels;
  work.groups = 2;
  work.x = x.data();
  work.epsilon = 1e-5f;
  work.y = y.data();
  host::Kernels<Op, P>::run(Space(), "tested", work);
  Space().fence("tested");
  for (int g = 0; g < 2; ++g) {
    double sum = 0, squares = 0;
    for (int p = 0; p < positions; ++p)
      for (int c = 4 * g; c < 4 * g + 4; ++c) {
        sum += y.data()[p * channels + c];
        squares += std::pow(y.data()[p * channels + c], 2);
      }
    CHECK(std::abs(sum / (4 * positions)) < 1e-3);
    CHECK(squares / (4 * positions) == doctest::Approx(1).epsilon(1e-3));
  }
}

#endif
