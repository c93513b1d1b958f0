// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The same network with and without Recompute: the same bits, in less memory.

#include <fusion/compare_training.hpp>
#include <rings.hpp>

#include <string>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

struct middle;

// clang-format off
// A value that is read behind the block, one that its gradient overwrites, masks, statistics of batches and rows.
template <template <class...> class Block> struct Rows
    : Network<Input<6>, Linear<8>, Block<BatchNorm<>, GELU, Save<middle>, Linear<7>, Dropout<0.3>, LayerNorm<>, Tanh, Linear<8>, AddFrom<middle>, Softmax>, Linear<8>,
              AddFrom<middle>, Block<Linear<8>, RMSNorm<>, SiLU>, Linear<3>> {};
template <template <class...> class Block> struct Images
    : Network<Input<2, 6, 5>, Repeat<2, Block<Residual<Main<Conv2d<2, KernelSize<3>, Padding<1>>, BatchNorm<>, GELU, GroupNorm<2>>>>>, Block<MaxPool2d<2>, GELU>, Flatten, Linear<3>> {};
// The recurrence writes over its projection, which is to be computed again as well.
template <template <class...> class Block> struct Sequence
    : Network<Input<3, 4>, Block<LSTM<3, Bidirectional>, GELU, MultiheadAttention<2>>, Block<Path<LSTM<2>>>, Flatten, Linear<3>> {};
// clang-format on

template <template <template <class...> class> class Net, class P, class Exec> void compare() {
  compare_training<Net<Recompute>, Exec, Net<Path>, Exec, P>();
}

}  // namespace

TEST_CASE("layers that are computed again for their gradients give the same bits") {
  compare<Rows, Full<double>, Plain>();
  compare<Images, Full<double>, Plain>();
  compare<Sequence, Full<double>, Plain>();
  compare<Rows, Full<float>, Fused>();
  compare<Images, Full<float>, Fused>();
  PHYLLO_IN_VERIFY(compare<Sequence, Mixed<bf16, float>, Fused>());
}

TEST_CASE("Recompute changes no names, shapes or plans") {
  using With = Images<Recompute>;
  using Without = Images<Path>;
  static_assert(With::parameter_count == Without::parameter_count);
  std::vector<std::string> with;
  Lower<Recompute<Linear<3>>>::name_leaves(with, "4");
  Lower<Recompute<Recompute<Linear<3>, Tanh>>>::name_leaves(with, "5");
  CHECK(with == std::vector<std::string>{"4", "5.0", "5.1"});
  constexpr auto& node = Network<Input<3>, Recompute<Linear<3>, Recompute<Tanh>>, Tanh,
                                 Repeat<2, Recompute<Linear<3>>>>::program::nodes.node;
  for (int i = 0; i < 6; ++i) CHECK(node[i].recomputed == std::vector{0, 1, 1, 0, 2, 3}[i]);
}

TEST_CASE("six blocks in Recompute keep the values of one") {
  using Block = Path<Linear<8>, BatchNorm<>, GELU, Linear<8>, BatchNorm<>, GELU>;
  struct With : Network<Input<8>, Repeat<6, Recompute<Block>>> {};
  struct Without : Network<Input<8>, Repeat<6, Block>> {};
  constexpr long slot = slot_alignment;  // of 8 numbers in double
  constexpr auto bytes = []<class Net, FusionLevel Level>(
                             Net, std::integral_constant<FusionLevel, Level>) {
    return Planned<Net, Phase::training, Level, 8>::memory.bytes;
  };
  constexpr std::integral_constant<FusionLevel, FusionLevel::epilogue> layers;
  constexpr std::integral_constant<FusionLevel, FusionLevel::tile> tiles;
  // Results of the blocks, and of the one that runs backwards: values of Linear and BatchNorm
  // layers, kept inputs of chains, and two gradients.
  CHECK(bytes(Without{}, layers) >= 25 * slot);
  CHECK(bytes(With{}, layers) <= 13 * slot);
  // Segments that begin with a batch normalisation keep its input alone.
  CHECK(bytes(Without{}, tiles) <= 16 * slot);
  CHECK(bytes(With{}, tiles) <= 12 * slot);
}

TEST_CASE("explain says what is computed again") {
  std::string const text = explain<Images<Recompute>, Full<double>, Plain>();
  CHECK(text.find("computed again in the backward pass") != text.npos);
}
