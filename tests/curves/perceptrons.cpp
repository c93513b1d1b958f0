// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training curves of networks that are one segment, whole steps included, against PyTorch's.

#include <curves/curve.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
struct Mlp : Network<Input<12>, Linear<24>, Tanh, Linear<16>, GELU, Linear<5>> {};
// LeCun et al., Proc. IEEE 86 (1998) 2278, of smaller images and widths.
struct LeNet : Network<Input<1, 16, 16>, Conv2d<4, KernelSize<5>, Padding<2>>, ReLU, MaxPool2d<2>, Conv2d<6, KernelSize<5>>, ReLU,
                       MaxPool2d<2>, Flatten, Linear<16>, ReLU, Linear<12>, ReLU, Linear<10>> {};
// clang-format on

}  // namespace

TEST_CASE("curves: MLP") {
  check_curve(
      "mlp",
      Single<Mlp, CrossEntropy, Sgd>{
          {.rate = 0.05, .momentum = 0.9, .nesterov = true, .schedule = cosine_schedule(100)}});
}

TEST_CASE("curves: LeNet") {
  check_curve("lenet",
              Single<LeNet, CrossEntropy, Sgd>{{.rate = 0.05,
                                                .momentum = 0.8,
                                                .weight_decay = 1e-3,
                                                .schedule = step_decay_schedule(40, 0.5)}});
}
