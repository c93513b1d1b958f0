// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recomputation::cheap: the same bits as with everything kept, in less memory.

#include <fusion/compare_training.hpp>
#include <rings.hpp>

#include <string>

using namespace phyllo;
using namespace phyllo::test;

namespace {

struct skip;

// clang-format off
template <int Out> using Pointed = Path<Conv2d<Out, KernelSize<1>, Bias<false>>, BatchNorm<>>;
// Blocks of a ResNet: a value for two convolutions; sums whose other value is kept, computed again, or a normalisation of its own.
struct Bottlenecks
    : Network<Input<3, 8, 6>, Conv2d<8, KernelSize<3>, Padding<1>, Bias<false>>, MaxPool2d<2>, BatchNorm<>, ReLU,
              Residual<Main<Pointed<4>, ReLU, Pointed<16>>, Shortcut<Pointed<16>>>, ReLU,
              Repeat<3, Residual<Main<Pointed<4>, GELU, Pointed<16>>>, ReLU>, GlobalAveragePool, Flatten, Linear<5>> {};
// Values side by side, an image made larger, a value that several layers read, masks.
struct Levels
    : Network<Input<2, 4, 4>, Conv2d<6, KernelSize<3>, Padding<1>>, BatchNorm<>, SiLU, Save<skip>, MaxPool2d<2>, Conv2d<8, KernelSize<3>, Padding<1>>, ReLU, Upsample<2>,
              ConcatFrom<skip>, Dropout<0.25>, Conv2d<6, KernelSize<3>, Padding<1>>, GroupNorm<2>, GELU, AddFrom<skip>, Tanh, Conv2d<2>, Flatten, Linear<3>> {};
// Statistics of rows, which are computed again with their values, and a Recompute beside them.
struct Rows
    : Network<Input<8, 6>, Repeat<2, TransformerEncoderLayer<8, 2, 16, Dropout<0.1>>>, Recompute<Linear<8, PerPosition>, LayerNorm<>, GELU>, RMSNorm<>, Linear<8, PerPosition>, Softmax, Linear<4, PerPosition>, Flatten, Linear<3>> {};
// clang-format on

template <class Exec>
using Cheap = Execution<typename Exec::space, typename Exec::backends, Exec::fusion, Fastest,
                        Recomputation::cheap>;
template <class Net, class P, class Exec>
using Training = NetworkPlan<Net, Phase::training, P, Exec>;

template <class Net, class P, class Exec> void compare() {
  compare_training<Net, Cheap<Exec>, Net, Exec, P>();
  constexpr long kept = Training<Net, P, Exec>::memory.bytes_kept;
  constexpr long less = Training<Net, P, Cheap<Exec>>::memory.bytes_kept;
  CHECK(less < kept);
}

// Whether the value of a layer, by its place in the network, is computed again.
template <class Net> constexpr bool is_again(int layer) {
  using Plan = Training<Net, Full<double>, Cheap<Plain>>;
  return Plan::liveness.lives_twice(layer);
}

}  // namespace

TEST_CASE("values that are cheap to compute again give the same bits, in less memory") {
  compare<Bottlenecks, Full<float>, Fused>();
  compare<Levels, Full<double>, Plain>();
  compare<Rows, Full<float>, Fused>();
  PHYLLO_IN_VERIFY(compare<Bottlenecks, Full<double>, Plain>());
  PHYLLO_IN_VERIFY(compare<Levels, Full<float>, Fused>());
  PHYLLO_IN_VERIFY(compare<Rows, Full<double>, Plain>());
  PHYLLO_IN_VERIFY(compare<Bottlenecks, Mixed<bf16, float>, Fused>());
  PHYLLO_IN_VERIFY(compare<Levels, Mixed<bf16, float>, Fused>());
}

TEST_CASE("a value is computed again where kept values give it") {
  // The normalised row, from that of Linear; not that of Linear itself, nor that of the next one,
  // whose ReLU reads its result.
  using Normalized = Network<Input<8>, Linear<8>, LayerNorm<>, Linear<8>, ReLU, Linear<8>>;
  CHECK(!is_again<Normalized>(1));
  CHECK(is_again<Normalized>(2));
  CHECK(!is_again<Normalized>(3));
  // The second sum would need the first one, which is not kept.
  using Sums = Network<Input<8>, Save<skip>, Linear<8>, LayerNorm<>, AddFrom<skip>, Save<skip>,
                       Linear<8>, LayerNorm<>, AddFrom<skip>, Linear<8>>;
  CHECK(is_again<Sums>(3));
  CHECK(!is_again<Sums>(6));
  // An output of the network is the caller's.
  using Ends = Network<Input<8>, Linear<8>, LayerNorm<>>;
  CHECK(!is_again<Ends>(2));
}

TEST_CASE("explain says what is computed again, and what is kept") {
  using Normalized = Network<Input<8>, Linear<8>, LayerNorm<>, Linear<8>>;
  std::string const text = explain<Normalized, Full<double>, Cheap<Plain>>();
  CHECK(text.find("computed again in the backward pass") != text.npos);
  CHECK(text.find("kept for the backward pass") != text.npos);
}
