// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training steps of GPUs that store their values, executed on the host as in segment.cpp, against
// plain loops.

#include <backend/gpu/step_comparison.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <rings.hpp>

#include <type_traits>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// Devices with so little scratch memory that every layer is a stage, and some layers.
template <class S> struct SmallMma : EmulatedMma<S> {
  static constexpr long scratch_budget = 6 * 1024 * long(sizeof(S)) / 2;
};
template <class S> struct SmallMfma : EmulatedMfma<S> {
  static constexpr long scratch_budget = 9 * 1024 * long(sizeof(S)) / 2;
};

template <template <class> class Instruction, class Segment, class L, class S>
using Stored =
    gpu::StoredStepKernels<HostDevice<Instruction>, Segment, L, typename PrecisionOf<S>::type>;

template <template <class> class Instruction, class Segment, class L, class S>
void compare(int batch, Inputs inputs = Inputs::in_one_piece) {
  compare_steps<Stored<Instruction, Segment, L, S>, Segment, L, S>(batch, inputs);
}

template <class Segment> void compare_all() {
  for (int const batch : {1, 16, 100, 700}) {
    compare<SmallMma, Segment, CrossEntropy, fp16>(batch);
    compare<SmallMfma, Segment, CrossEntropy, bf16>(batch);
    if constexpr (all_cases) {
      compare<EmulatedMma, Segment, MeanSquaredError, bf16>(batch);
      compare<EmulatedMfma, Segment, MeanSquaredError, fp16>(batch);
    }
    compare<SmallMma, Segment, MeanSquaredError, float>(batch);
    compare<SmallMfma, Segment, CrossEntropy, float>(batch);
  }
}

template <class Segment, class P>
using ByMma = gpu::Kernels<HostDevice<EmulatedMma>, op::WholeStep<Segment, MeanSquaredError>, P>;
template <class Segment, class P>
using ByMfma = gpu::Kernels<HostDevice<EmulatedMfma>, op::WholeStep<Segment, MeanSquaredError>, P>;

using Even =
    op::Segment<Dense<16, 32, ReLU>, Dense<32, 48, ReLU>, Dense<48, 32, Tanh>, Dense<32, 16>>;
using Odd = op::Segment<Dense<7, 17, Tanh>, Bare<17, 30>, Dense<30, 33, GELU, Dropout<0.2>>,
                        Dense<33, 3, GELU>>;
using Mlp = op::Segment<Dense<16, 64, ReLU>, Dense<64, 64, ReLU>, Dense<64, 64, ReLU>,
                        Dense<64, 64, ReLU>, Dense<64, 16>>;
using Wide = op::Segment<Dense<24, 128, GELU>, Dense<128, 128, ReLU>, Dense<128, 128, ReLU>,
                         Dense<128, 120>>;

}  // namespace

TEST_CASE("stages of weights are as many as are tested") {
  using Small = Stored<SmallMma, Even, MeanSquaredError, bf16>::Kernel::Layout;
  // Of which one begins on the way there, one on the way back.
  static_assert(Small::stages() == 3 && Small::is_forward(Small::first_of(1)) &&
                !Small::is_forward(Small::first_of(2)));
  CHECK(Stored<SmallMfma, Odd, CrossEntropy, float>::Kernel::Layout::stages() > 1);
  CHECK(Stored<EmulatedMma, Even, MeanSquaredError, bf16>::Kernel::Layout::stages() == 1);
}
TEST_CASE("stored steps of even widths") { compare_all<Even>(); }
TEST_CASE("stored steps of odd widths, with what chains had before them, and random masks") {
  compare_all<Odd>();
}
TEST_CASE("stored steps of inputs of another type, with gaps") {
  for (int const batch : {1, 100}) {
    compare<EmulatedMma, Even, MeanSquaredError, bf16>(batch, Inputs::apart);
    compare<SmallMfma, Even, CrossEntropy, fp16>(batch, Inputs::apart);
    compare<EmulatedMfma, Odd, CrossEntropy, float>(batch, Inputs::apart);
  }
}
TEST_CASE("what a function makes of padding and of rows behind the batch is not stored") {
  using Net = op::Segment<Bare<7, 17, BesideZero>, Dense<17, 30, BesideZero>, Dense<30, 3>>;
  for (int const batch : {1, 16, 100}) {
    compare<EmulatedMma, Net, MeanSquaredError, bf16>(batch);
    compare<SmallMma, Net, MeanSquaredError, float>(batch);
    compare<EmulatedMfma, Net, MeanSquaredError, fp16>(batch);
  }
}
TEST_CASE("one layer alone is stored, its gradients too") {
  using Net = op::Segment<Dense<20, 5, Tanh>>;
  compare<EmulatedMma, Net, MeanSquaredError, bf16>(100);
  compare<EmulatedMfma, Net, CrossEntropy, float>(100);
}
TEST_CASE("the workload mlp-train on AMD's devices is stored, its weights in one stage") {
  using P = Mixed<bf16, float>;
  using Kernels = Stored<EmulatedMfma, Mlp, MeanSquaredError, bf16>;
  static_assert(std::is_base_of_v<Kernels, ByMfma<Mlp, P>>);
  static_assert(
      std::is_base_of_v<gpu::WholeStepKernels<HostDevice<EmulatedMma>, Mlp, MeanSquaredError, P>,
                        ByMma<Mlp, P>>);
  static_assert(Kernels::Kernel::Layout::stages() == 1);
  compare<EmulatedMfma, Mlp, MeanSquaredError, bf16>(1500);
}
TEST_CASE("wide layers are stored on both vendors' devices, in several stages") {
  using P = Mixed<bf16, float>;
  static_assert(
      std::is_base_of_v<Stored<EmulatedMma, Wide, MeanSquaredError, bf16>, ByMma<Wide, P>>);
  static_assert(
      std::is_base_of_v<Stored<EmulatedMfma, Wide, MeanSquaredError, bf16>, ByMfma<Wide, P>>);
  static_assert(Stored<EmulatedMma, Wide, MeanSquaredError, bf16>::Kernel::Layout::stages() > 1);
  compare<EmulatedMma, Wide, MeanSquaredError, bf16>(300);
  compare<EmulatedMfma, Wide, CrossEntropy, fp16>(300);
}
TEST_CASE("an empty batch has gradients of zero") {
  compare<EmulatedMma, Even, MeanSquaredError, bf16>(0);
  compare<SmallMfma, Odd, MeanSquaredError, float>(0);
}
