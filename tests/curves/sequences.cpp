// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training curves of an LSTM and of a Transformer's encoder against PyTorch's.

#include <curves/curve.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
struct StackedLSTM : Network<Input<3, 10>, LSTM<8, Layers<2>>, Slice<2, -1>, Flatten, Linear<4>> {};
struct Encoder : Network<IntegerInput<8>, Embedding<11, 8>, SinusoidalPositions<>, TransformerEncoderLayer<8, 2, 16, GELU, NormFirst>,
                         TransformerEncoderLayer<8, 2, 12, Causal>, LayerNorm<>, GlobalAveragePool, Flatten, Linear<4>> {};
// clang-format on

template <class Rule> struct Words : Single<Encoder, CrossEntropy, Rule> {
  template <class T> auto inputs(int k) const {
    return draw_integers(Rows<int>("words", samples, 8), inputs_from, k, 11);
  }
  template <class T, class M> std::vector<double> output(Space const& exec, M& model, int k) const {
    return inferred<T>(exec, model, inputs<T>(k));
  }
};

}  // namespace

TEST_CASE("curves: LSTM") {
  check_curve("lstm",
              Single<StackedLSTM, MeanSquaredError, RmsProp>{{.rate = 2e-3, .alpha = 0.95}});
}

TEST_CASE("curves: Transformer encoder") {
  check_curve(
      "encoder",
      Words<AdamW>{{AdamW{.rate = 3e-3, .weight_decay = 0.05, .schedule = constant_schedule(20)}}});
}
