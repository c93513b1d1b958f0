// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whole training steps of GPUs executed on the host, as in segment.cpp, against plain loops.

#include <backend/gpu/step_comparison.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <template <class> class Instruction, class Segment, class L, class S>
void compare(int batch, Inputs inputs = Inputs::in_one_piece) {
  using P = typename PrecisionOf<S>::type;
  compare_steps<gpu::WholeStepKernels<HostDevice<Instruction>, Segment, L, P>, Segment, L, S>(
      batch, inputs);
}

template <class Segment> void compare_all() {
  for (int const batch : {1, 16, 100, 700}) {
    compare<EmulatedMma, Segment, MeanSquaredError, bf16>(batch);
    compare<EmulatedMma, Segment, CrossEntropy, fp16>(batch);
    compare<EmulatedMfma, Segment, MeanSquaredError, fp16>(batch);
    compare<EmulatedMfma, Segment, CrossEntropy, bf16>(batch);
    compare<EmulatedMma, Segment, MeanSquaredError, float>(batch);
    compare<EmulatedMfma, Segment, CrossEntropy, float>(batch);
  }
}

using Even = op::Segment<Dense<16, 32, ReLU>, Dense<32, 32, ReLU>, Dense<32, 16>>;
using Odd = op::Segment<Dense<7, 17, Tanh>, Bare<17, 30>, Dense<30, 33, GELU, Dropout<0.2>>,
                        Dense<33, 3, Tanh>>;
using Mlp = op::Segment<Dense<16, 64, ReLU>, Dense<64, 64, ReLU>, Dense<64, 64, ReLU>,
                        Dense<64, 64, ReLU>, Dense<64, 16>>;

// Zero as constructed: kernels that lose its member lose its gradients.
struct Scaled {
  [[maybe_unused]] static constexpr char const* name = "scaled";
  static constexpr bool classes = false;
  float scale = 0;
  static Scaled other() { return {1.5f}; }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const by = T(scale);
    y.gradient([&](int c) { return by * (y(c) - y.target(c)); });
    return by * y.sum([&](int c) { return (y(c) - y.target(c)) * (y(c) - y.target(c)) / 2; });
  }
};

}  // namespace

TEST_CASE("whole steps of even widths") { compare_all<Even>(); }
TEST_CASE("whole steps of odd widths, with what chains had before them, and random masks") {
  compare_all<Odd>();
}
TEST_CASE("what a function makes of padding and of rows behind the batch reaches no gradient") {
  using Net = op::Segment<Bare<7, 17, BesideZero>, Dense<17, 30, BesideZero>, Dense<30, 3>>;
  for (int const batch : {1, 16, 100}) {
    compare<EmulatedMma, Net, MeanSquaredError, bf16>(batch);
    compare<EmulatedMma, Net, MeanSquaredError, float>(batch);
    compare<EmulatedMfma, Net, MeanSquaredError, fp16>(batch);
  }
}
TEST_CASE("rows behind the batch, whose biases overflow, reach no gradient") {
  using Net = op::Segment<Dense<4, 16>, Dense<16, 16>, Dense<16, 4>>;
  // Of inputs of one, the first layer is 1; of none, 300, and the second one beyond fp16's range.
  auto const change = [](std::vector<fp16>& x, std::vector<fp16>& p, int const* weight,
                         int const* bias) {
    std::fill(x.begin(), x.end(), fp16(1.0f));
    std::fill_n(p.begin() + weight[0], 4 * 16, fp16(-74.75f));
    std::fill_n(p.begin() + bias[0], 16, fp16(300.0f));
    std::fill_n(p.begin() + weight[1], 16 * 16, fp16(20.0f));
    std::fill_n(p.begin() + weight[2], 16 * 4, fp16(0x1p-10f));
  };
  for (int const batch : {1, 100}) {
    compare_steps<
        gpu::WholeStepKernels<HostDevice<EmulatedMma>, Net, MeanSquaredError, Mixed<fp16, float>>,
        Net, MeanSquaredError, fp16>(batch, Inputs::in_one_piece, change);
    compare_steps<
        gpu::WholeStepKernels<HostDevice<EmulatedMfma>, Net, MeanSquaredError, Mixed<fp16, float>>,
        Net, MeanSquaredError, fp16>(batch, Inputs::in_one_piece, change);
  }
}
TEST_CASE("the workload mlp-train, whose scratch memory only NVIDIA's devices have") {
  static_assert(gpu::step_warps<EmulatedMma<bf16>, Mlp> == 8);
  static_assert(gpu::step_warps<EmulatedMfma<bf16>, Mlp> == 0);
  compare<EmulatedMma, Mlp, MeanSquaredError, bf16>(1000);
}
TEST_CASE("whole steps of inputs of another type, with gaps") {
  compare<EmulatedMma, Even, MeanSquaredError, bf16>(100, Inputs::apart);
  compare<EmulatedMfma, Odd, CrossEntropy, float>(100, Inputs::apart);
}
TEST_CASE("an empty batch has gradients of zero") {
  compare<EmulatedMma, Even, MeanSquaredError, bf16>(0);
}
TEST_CASE("whole steps of a loss with a member") {
  compare<EmulatedMma, Even, Scaled, bf16>(100);
  compare<EmulatedMfma, Odd, Scaled, float>(100);
}
