// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// On a GPU these networks take kernels of `portable` that only devices have: scans whose weights
// are in registers, losses by parts of samples, and rows that the lanes of a thread share.

#include <backend/device_models.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
// Weights of all but the last scan are in registers; rows of 10 units are not read by 16 bytes.
struct Scans : Network<Input<5, 9>, LSTM<24, Bidirectional>, GRU<10>, RNN<33>, LSTM<136>, Slice<2, -1>, Flatten, Linear<4>> {};
// Heads of 16 channels are read by 16 bytes, those of 5 are not; of 64, rows stay in memory.
struct Heads : Network<Input<48, 70>, TransformerEncoderLayer<48, 3, 40>, Linear<15, PerPosition>, TransformerEncoderLayer<15, 3, 20, GELU, NormFirst, Causal>,
                       Linear<64, PerPosition>, MultiheadAttention<1>> {};
// Losses of 70 positions of 64 channels, three parts (above), and of 1,200 of five.
struct Pixels : Network<Input<3, 30, 40>, Conv2d<6, Padding<1>>, ReLU, MaxPool2d<3, Stride<2>, Padding<1>>, Upsample<2>, Conv2d<5, KernelSize<1>>> {};
// clang-format on

template <class Net, class P> void compare_batches() {
  for (int const batch : {1, 7}) {
    infer<Net, P>(batch);
    train<Net, P>(batch);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("kinds on the default device, in float", Net, Scans, Heads, Pixels) {
  compare_batches<Net, Full<float>>();
}
TEST_CASE_TEMPLATE("kinds on the default device, in bfloat16", Net, Scans, Heads, Pixels) {
  compare_batches<Net, Mixed<bf16, float>>();
}
TEST_CASE_TEMPLATE("classes of positions on the default device", L, CrossEntropy,
                   MaskedCrossEntropy<>) {
  train<Pixels, Full<float>, L>(3);
}
