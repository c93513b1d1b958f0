// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers that move numbers: values by hand in the field's order (C, S...), and networks in which
// they cost nothing, so that a value is read under other extents than it is stored with.

#include <fusion/boundaries.hpp>
#include <rings.hpp>

#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Numbers = std::vector<double>;

// Element i of a sample in the field's order, (C, S), and in the one in which it is stored.
int stored(Shape const& s, int i) { return i % s.positions() * s.channels + i / s.positions(); }
int logical(Shape const& s, int i) { return i % s.channels * s.positions() + i / s.channels; }

// What a layer makes of the numbers 0, 1, 2, ... of one sample; -7 is its fill.
template <class Layer, int... Extent> Numbers moved() {
  constexpr Shape from{Extent...};
  static_assert(Layer::accepts(from));
  constexpr Shape to = Layer::output(from);
  constexpr MoveMap map = Layer::map(from), merged = map.merged();
  Numbers y;
  for (int i = 0; i < to.size(); ++i) {
    int const source = map.source(stored(to, i));
    CHECK(merged.source(stored(to, i)) == source);
    y.push_back(source < 0 ? -7 : logical(from, source));
  }
  return y;
}
template <class Net>
constexpr int steps = Planned<Net, Phase::training, FusionLevel::tile, 8>::plan.size;

// clang-format off
// One channel becomes a row and the reverse, at the input, at the output, and in front of what is fused or reads rows.
struct AtBothEnds : Network<Input<1, 3, 4>, Reshape<12>, Linear<9>, Tanh, Linear<6>, Reshape<1, 2, 3>> {};
struct Alone : Network<Input<2, 1, 3>, Permute<1, 3, 2>, Reshape<2, 3>> {};
struct Folded : Network<Input<5>, Linear<6>, Reshape<1, 6>, BatchNorm<>, GELU, Reshape<6>, Linear<4>, ReLU, Linear<3>> {};
struct RowsOfOne : Network<Input<4>, Linear<8>, Reshape<1, 8>, RMSNorm<Epsilon<0.5>>, Tanh, Conv1d<2>, MaxPool1d<2>, Flatten, Linear<3>, ReLU, Linear<2>> {};
struct OtherImages : Network<Input<2, 4, 6>, Conv2d<3, Padding<1>>, Reshape<3, 24>, ReLU, MaxPool1d<2>, Reshape<3, 3, 4>, Conv2d<2>, Flatten, Linear<4>> {};
struct ImageOfRow : Network<Input<24>, Reshape<1, 4, 6>, Conv2d<3>, ReLU, MaxPool2d<2>, Flatten, Linear<4>> {};
struct Joined : Network<Input<1, 8>, Save<struct row>, Reshape<8>, Linear<8>, Reshape<1, 8>, Save<struct wide>, Reshape<8>, Branch<Path<>, Path<From<row>, Reshape<8>>, Path<Linear<2>>>,
                        Linear<8>, Reshape<1, 8>, AddFrom<wide>, AddFrom<row>, Tanh> {};
struct FlatImage : Network<Input<2, 4, 4>, Conv2d<1>, Flatten, Tanh, Linear<5>, ReLU, Linear<2>> {};
// clang-format on
static_assert(steps<AtBothEnds> == 1 && steps<Alone> == 0);
static_assert(!is_whole_step<AtBothEnds::program>(FusionLevel::tile));
static_assert(Alone::program::nodes.node[1].alias && Alone::program::nodes.node[2].alias);
static_assert(FlatImage::program::nodes.node[2].alias);

}  // namespace

TEST_CASE("moves: slices and crops by hand") {
  CHECK(moved<Slice<1, 1, 3>, 4, 2>() == Numbers{2, 3, 4, 5});
  CHECK(moved<Slice<1, 0, 4, 3>, 4, 2>() == Numbers{0, 1, 6, 7});
  CHECK(moved<Slice<2, -1>, 2, 3>() == Numbers{2, 5});
  CHECK(moved<Slice<-1, -3, 100, 2>, 2, 1, 4>() == Numbers{1, 3, 5, 7});
  CHECK(moved<Slice<2, 1, 2>, 1, 2, 3>() == Numbers{3, 4, 5});
  CHECK(moved<Crop<0, 1>, 1, 2, 3>() == Numbers{1, 4});
}
TEST_CASE("moves: borders by hand") {
  CHECK(moved<Pad<Padding<1>, PaddingAfter<2>, Fill<-7.0>>, 2, 2>() ==
        Numbers{-7, 0, 1, -7, -7, -7, 2, 3, -7, -7});
  CHECK(moved<Pad<ReflectPadding<2>, PaddingAfter<1>>, 1, 3>() == Numbers{2, 1, 0, 1, 2, 1});
  CHECK(moved<Pad<ReplicatePadding<2>, PaddingAfter<1>>, 1, 2>() == Numbers{0, 0, 0, 1, 1});
  CHECK(moved<Pad<CircularPadding<2>, PaddingAfter<3>>, 1, 3>() == Numbers{1, 2, 0, 1, 2, 0, 1, 2});
  CHECK(moved<Pad<CircularPadding<1, 0>>, 1, 2, 2>() == Numbers{2, 3, 0, 1, 2, 3, 0, 1});
}
TEST_CASE("moves: other orders by hand") {
  CHECK(moved<Flip<1>, 2, 2>() == Numbers{2, 3, 0, 1});
  CHECK(moved<Flip<-1, 2>, 1, 2, 2>() == Numbers{3, 2, 1, 0});
  CHECK(moved<Permute<2, 1>, 2, 3>() == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(moved<Permute<3, 1, 2>, 1, 2, 3>() == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(moved<Permute<1, 3, 2>, 2, 1, 3>() == Numbers{0, 1, 2, 3, 4, 5});
  // The numbers stay in their order, (C, S), whatever the extents.
  Numbers const all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  CHECK(moved<Reshape<3, -1>, 2, 6>() == all);
  CHECK(moved<Reshape<6, 2>, 3, 4>() == all);
  CHECK(moved<Reshape<2, 3, 2>, 4, 3>() == all);
  CHECK(moved<Flatten, 4, 3>() == all);
  CHECK(moved<Reshape<4, 1, 3, 1>, 12>() == all);
}
TEST_CASE("moves: channels and positions by hand") {
  CHECK(moved<PixelShuffle<2>, 4, 1, 2>() == Numbers{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(moved<PixelShuffle<2>, 4, 2>() == Numbers{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(moved<PixelUnshuffle<2>, 1, 2, 4>() == Numbers{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(moved<ChannelShuffle<3>, 6>() == Numbers{0, 2, 4, 1, 3, 5});
  CHECK(moved<Upsample<2>, 1, 2>() == Numbers{0, 0, 1, 1});
}
TEST_CASE("moves: an input that is an output under other extents") {
  using Net = Network<Input<6>, Reshape<1, 2, 3>>;
  static_assert(steps<Net> == 0);
  Space const exec;
  auto const x = view_of<Kokkos::LayoutLeft, 0>(Net::input, 2);
  auto const y = view_of<Kokkos::LayoutLeft, 2>(Net::output, 2);
  fill(x, 1);
  Model<Net, Full<double>, Execution<Space>> model(exec, {.batch = 2});
  model.infer(exec, x, y);
  exec.fence("moves");
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 6; ++i) CHECK(y(n, 0, i / 3, i % 3) == x(n, i));
}
// `if constexpr` leaves out what is discarded in templates only.
template <bool All> void compare_aliases() {
  compare_with_reference<AtBothEnds, Kokkos::LayoutLeft>();
  compare_with_reference<Folded>();
  compare_with_reference<OtherImages, Kokkos::LayoutLeft>();
  compare_with_reference<Joined, Kokkos::LayoutLeft>();
  if constexpr (All) {
    compare_with_reference<AtBothEnds>();
    compare_with_reference<Alone, Kokkos::LayoutLeft>();
    compare_with_reference<RowsOfOne>();
    compare_with_reference<ImageOfRow>();
    compare_with_reference<FlatImage>();
  }
}
TEST_CASE("moves: what costs nothing is read and written as the caller's Views are") {
  compare_aliases<all_cases>();
}
