// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whole training steps of GPUs executed on the host, as in segment.cpp, against plain loops.

#include <backend/gpu/segment_cases.hpp>
#include <phyllo/backend/reference/segment.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/policy/precision.hpp>

#include <doctest/doctest.h>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// Norm of the difference of some numbers, relative.
double distance(std::vector<float> const& expected, std::vector<float> const& got, int first,
                int count) {
  double difference = 0, norm = 0;
  for (int i = first; i < first + count; ++i) {
    double const e = double(expected[std::size_t(i)]), d = double(got[std::size_t(i)]) - e;
    difference += d * d;
    norm += e * e;
  }
  return norm == 0 ? difference : std::sqrt(difference / norm);
}

template <template <class> class Instruction, class Segment, class L, class S>
void compare(int batch) {
  CAPTURE(batch);
  using P = typename PrecisionOf<S>::type;
  using Op = op::WholeStep<Segment, L>;
  using A = Arena<Segment>;
  using Kernels = gpu::WholeStepKernels<HostDevice<Instruction>, Segment, L, P>;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11, .loss_scale = 64};
  auto const x = numbers<S>(long(batch) * A::first, 1);
  std::vector<double> wanted(std::size_t(batch * A::last));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = L::classes ? double(i % A::last) : double(random_uniform(3, 0, 0, i, 0));
  std::vector<float> gradients[2], values[2], hits[2];
  typename Op::template Run<P> work;
  auto const p = A::template fill<S>(work.forward);
  for (int k = 0; k < 2; ++k) {
    gradients[k].assign(p.size(), std::nanf(""));
    values[k].assign(std::size_t(batch), std::nanf(""));
    hits[k] = values[k];
    int const rows = Kernels::workspace_rows(Space{});
    std::vector<float> partial(std::size_t(rows) * p.size(), std::nanf(""));
    work.forward.batch = batch;
    work.forward.x = x.data();
    work.forward.parameters = p.data();
    work.forward.random = {&state, 5};
    work.weight = 0.5f;
    work.targets.data[0] = wanted.data();
    work.targets.type = ElementType::f64;
    work.targets.sample_stride = A::last;
    work.targets.channel_stride = 1;
    work.state = &state;
    work.parameter_count = int(p.size());
    work.rows = rows;
    work.partial = partial.data();
    work.gradients = gradients[k].data();
    work.values = values[k].data();
    work.hits = hits[k].data();
    ExternalTensor source;
    source.data[0] = const_cast<S*>(x.data());
    source.type = type_of<S>;
    source.sample_stride = A::first;
    source.channel_stride = 1;
    if (k == 0)
      reference::Kernels<Op, P>::run(Space{}, "reference", work);
    else
      Kernels::run(Space{}, "gpu", work, source);
  }
  // Values of 16 bits: a ReLU may fall to the other side, sums of gradients may cancel.
  double const bound = 1.5 * rounding<S>;
  for (int l = 0; l < A::layers; ++l) {
    CAPTURE(l);
    CHECK(distance(gradients[0], gradients[1], work.forward.weight[l],
                   A::inputs[l] * A::outputs[l]) <= bound);
    if (A::has_bias[l])
      CHECK(distance(gradients[0], gradients[1], work.forward.bias[l], A::outputs[l]) <= bound);
  }
  CHECK(distance(values[0], values[1], 0, batch) <= bound);
  float right[2] = {};
  for (int k = 0; k < 2; ++k)
    for (float const h : hits[k]) right[k] += h;
  CHECK(std::fabs(right[0] - right[1]) <= 0.02f * float(batch) + 1);
  // Between parameters there is nothing, which the norm of all gradients may add.
  for (std::size_t i = 0; i < p.size(); ++i)
    if (std::isnan(float(p[i]))) CHECK(gradients[1][i] == 0);
}

template <class Segment> void compare_all() {
  for (int const batch : {1, 16, 100, 700}) {
    compare<cuda::Mma, Segment, MeanSquaredError, bf16>(batch);
    compare<cuda::Mma, Segment, CrossEntropy, fp16>(batch);
    compare<hip::Mfma, Segment, MeanSquaredError, fp16>(batch);
    compare<hip::Mfma, Segment, CrossEntropy, bf16>(batch);
    compare<cuda::Mma, Segment, MeanSquaredError, float>(batch);
    compare<hip::Mfma, Segment, CrossEntropy, float>(batch);
  }
}

using Even = op::Segment<Dense<16, 32, ReLU>, Dense<32, 32, ReLU>, Dense<32, 16>>;
using Odd = op::Segment<Dense<7, 17, Tanh>, Bare<17, 30>, Dense<30, 33, GELU, Dropout<0.2>>,
                        Dense<33, 3, Tanh>>;
using Mlp = op::Segment<Dense<16, 64, ReLU>, Dense<64, 64, ReLU>, Dense<64, 64, ReLU>,
                        Dense<64, 64, ReLU>, Dense<64, 16>>;

}  // namespace

TEST_CASE("whole steps of even widths") { compare_all<Even>(); }
TEST_CASE("whole steps of odd widths, with what chains had before them, and random masks") {
  compare_all<Odd>();
}
TEST_CASE("what a function makes of padding and of rows behind the batch reaches no gradient") {
  using Net = op::Segment<Bare<7, 17, BesideZero>, Dense<17, 30, BesideZero>, Dense<30, 3>>;
  for (int const batch : {1, 16, 100}) {
    compare<cuda::Mma, Net, MeanSquaredError, bf16>(batch);
    compare<cuda::Mma, Net, MeanSquaredError, float>(batch);
    compare<hip::Mfma, Net, MeanSquaredError, fp16>(batch);
  }
}
TEST_CASE("the workload mlp-train, whose scratch memory only NVIDIA's devices have") {
  static_assert(gpu::step_warps<cuda::Mma<bf16>, Mlp> == 8);
  static_assert(gpu::step_warps<hip::Mfma<bf16>, Mlp> == 0);
  compare<cuda::Mma, Mlp, MeanSquaredError, bf16>(1000);
}
TEST_CASE("an empty batch has gradients of zero") {
  compare<cuda::Mma, Even, MeanSquaredError, bf16>(0);
}
