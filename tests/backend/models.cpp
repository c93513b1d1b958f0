// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// On a GPU these networks take each kernel of backend/gpu: segments that are resident or come in
// stages, steps in one pass and stored ones, wide products and convolutions.

#include <backend/device_models.hpp>

#include <rings.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
struct Mlp : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<16>> {};
struct Odd : Network<Input<3>, Linear<19>, Sigmoid, Linear<33, Bias<false>>, GELU, Linear<5>> {};
struct Stages : Network<Input<100>, Linear<128>, Tanh, Repeat<5, Linear<128>, ReLU>, Linear<7>> {};
struct Wide : Network<Input<270>, Linear<300>, ReLU, Linear<260>, GELU, Linear<9>> {};
struct Images : Network<Input<2, 9, 7>, Conv2d<6, Padding<1>>, BatchNorm<>, ReLU, MaxPool2d<2>,
                        Residual<Conv2d<6, Padding<1>>, Tanh>, Flatten, Linear<4>> {};
// Extents that are multiples of 8, of which devices copy chunks of 16 bits.
struct Eights : Network<Input<8, 9, 7>, Conv2d<16, Padding<1>>, BatchNorm<>, ReLU,
                        Conv2d<72, Stride<2>, Padding<1>>, GELU, Residual<Conv2d<72, KernelSize<1>>, BatchNorm<>>, ReLU,
                        Flatten, Linear<136>, ReLU, Linear<8>> {};
// clang-format on

}  // namespace

TEST_CASE_TEMPLATE("networks on the default device, in float", Net, Mlp, Odd,
                   Images PHYLLO_IN_VERIFY(, Stages, Wide)) {
  compare<Net, Full<float>>();
}
TEST_CASE_TEMPLATE("networks on the default device, in bfloat16", Net,
                   Stages PHYLLO_IN_VERIFY(, Images, Mlp, Odd, Wide, Eights)) {
  compare<Net, Mixed<bf16, float>>();
}
TEST_CASE_TEMPLATE("networks on the default device, in half precision", Net,
                   Mlp PHYLLO_IN_VERIFY(, Odd, Stages, Wide, Images, Eights)) {
  compare<Net, Mixed<fp16, float>>();
}
