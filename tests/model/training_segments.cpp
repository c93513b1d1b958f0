// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks that contain segments and are none: the loop by hand, with gradients of the inputs, and
// trainers with several losses, against plain loops layer by layer.

#include <fusion/boundaries.hpp>
#include <rings.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

struct left;
struct right;
struct middle;

// clang-format off
struct Normalized : Network<Input<5>, Linear<8>, Tanh, Linear<7>, ReLU, Linear<6>, BatchNorm<>, ReLU, Linear<9>, Dropout<0.3>, Linear<4>, Tanh, Linear<3>> {};
struct TrunkAndHeads : Network<Input<1, 8, 8>, Conv2d<3, KernelSize<3>>, ReLU, MaxPool2d<2>, Flatten, Linear<12>, ReLU, Linear<10>, Tanh, Save<middle>,
                               Linear<6>, ReLU, Linear<3>, Output<left>, From<middle>, Linear<5>, Tanh, Linear<2>, Output<right>> {};
// The sum reads the segment's own input; behind it is a softmax, which ends the segment.
struct SumOfInput : Network<Input<6>, Softmax, Save<middle>, Linear<6>, Tanh, Linear<6>, AddFrom<middle>, ReLU, Linear<4>, Softmax> {};
// Row normalisations with and without parameters, behind a random mask and as a term of a sum.
struct NormalizedRows : Network<Input<5>, Linear<9>, LayerNorm<>, ReLU, Linear<7, Bias<false>>, RMSNorm<Epsilon<1e-2>>, Dropout<0.3>, Save<middle>,
                                Linear<7>, LayerNorm<Affine<false>>, Tanh, AddFrom<middle>, LayerNorm<>, Linear<18>, RMSNorm<Affine<false>>, GELU, Linear<3>> {};
struct WholeNetwork : Network<Input<4>, Linear<9>, Tanh, Linear<17>, GELU, Linear<3>> {};
// The image in front of the trunk has a gradient, and so have two values that a segment reads.
struct ImageBehindWork : Network<Input<2, 6, 6>, Tanh, Conv2d<3, KernelSize<3>, Padding<1>>, ReLU, MaxPool2d<2>, Flatten, Linear<7>, Tanh, Linear<3>, Softmax> {};
// Convolutions and poolings without a Linear layer: heads that read images, strided and padded, and images as the result.
struct HeadsOnImages : Network<Input<2, 9, 7>, Conv2d<5, KernelSize<3>, Padding<1>, Stride<2>>, Tanh, MaxPool2d<2>, GELU, Save<middle>,
                               Flatten, Linear<4>, Tanh, Linear<3>, Output<left>, From<middle>, Flatten, Linear<5>, Tanh, Linear<2>, Output<right>> {};
struct ImageResult : Network<Input<3, 7, 6>, Conv2d<4, Padding<1>>, GELU, AveragePool2d<2>, Conv2d<6, KernelSize<2>, Stride<2>>> {};
struct NormalizedImages : Network<Input<1, 8, 6>, Conv2d<5, Padding<1>>, BatchNorm<>, ReLU, MaxPool2d<2>, Conv2d<6, KernelSize<2>>, BatchNorm<>, Tanh, Flatten, Linear<3>> {};
struct ImagesBehindWork : Network<Input<2, 6, 6>, Softmax, Conv2d<3, KernelSize<3>, Stride<2>, Padding<1>>, Sigmoid, AveragePool2d<2>, Dropout<0.3>, GlobalAveragePool, Flatten, Softmax> {};
struct DeadLayers : Network<Input<4>, Linear<5>, Save<middle>, Linear<6>, Tanh, Linear<3>, From<middle>, Tanh, Linear<4>, ReLU, Linear<2>> {};
// clang-format on

using OfReference = Execution<Space, Backends<ReferenceBackend>>;
using OfPortable = Execution<Space, Backends<PortableBackend>>;

template <class Net, class Exec> constexpr int segments() {
  using Plan = typename Model<Net, Full<double>, Exec>::Training;
  int count = 0;
  for (int s = 0; s < Plan::plan.size; ++s) count += Plan::step(s).kind == StepKind::segment;
  return count;
}
static_assert(segments<Normalized, Fused>() == 2);
static_assert(segments<TrunkAndHeads, Fused>() == 3);
static_assert(segments<SumOfInput, Fused>() == 1);
static_assert(segments<ImageBehindWork, Fused>() == 1);
static_assert(segments<WholeNetwork, Fused>() == 1);
static_assert(segments<NormalizedRows, Fused>() == 1);
// Programs for GPUs have none of images
// (docs/decisions/0012-processors-kernels-in-gpu-programs.md).
constexpr bool has_image_segments = is_processor<Kokkos::DefaultExecutionSpace>;
static_assert(!has_image_segments || segments<HeadsOnImages, Fused>() == 3);
static_assert(!has_image_segments || segments<ImageResult, Fused>() == 1);
static_assert(!has_image_segments || segments<NormalizedImages, Fused>() == 3);
static_assert(!has_image_segments || segments<ImagesBehindWork, Fused>() == 1);
static_assert(!is_whole_step<ImageResult::program>(FusionLevel::tile));
static_assert(is_whole_step<NormalizedRows::program>(FusionLevel::tile));
static_assert(segments<NormalizedRows, OfReference>() == 2);
static_assert(segments<NormalizedRows, OfPortable>() == 0);
static_assert(segments<Normalized, OfPortable>() == 2);
static_assert(segments<Normalized, OfReference>() == 2);
static_assert(segments<Normalized, Plain>() == 0);

// Everything that a loop by hand yields: outputs, gradients of parameters and of the input.
template <class Net, class Exec> struct ByHand {
  using Out = decltype(view_of<Kokkos::LayoutRight, Net::output.rank>(Net::output, 1));
  using In = decltype(view_of<Kokkos::LayoutRight, Net::input.rank>(Net::input, 1));
  Model<Net, Full<double>, Exec> model;
  Out y;
  In d_x;

  ByHand(Space const& exec, int batch, bool wants_input)
      : model(exec, {.batch = batch + 2, .seed = 3}),
        y(view_of<Kokkos::LayoutRight, Net::output.rank>(Net::output, batch)),
        d_x(view_of<Kokkos::LayoutRight, Net::input.rank>(Net::input, batch)) {
    auto const x = view_of<Kokkos::LayoutRight, Net::input.rank>(Net::input, batch);
    auto const d_y = view_of<Kokkos::LayoutRight, Net::output.rank>(Net::output, batch);
    fill(x, 1);
    fill(d_y, 2);
    Kokkos::deep_copy(y, NAN);
    Kokkos::deep_copy(model.gradients(), NAN);
    model.forward(exec, x, y);
    Kokkos::deep_copy(x, NAN);  // the caller's, once forward has returned on this instance
    if (wants_input)
      model.backward(exec, d_y, d_x);
    else
      model.backward(exec, d_y);
    exec.fence("by hand");
  }
};

template <class Net, class Exec = Fused> void compare_by_hand() {
  constexpr double bound = 1e-11;
  for (int const batch : {1, 17, 50})
    for (bool const wants_input : {true, false}) {
      CAPTURE(batch);
      Space const exec;
      ByHand<Net, Plain> const plain(exec, batch, wants_input);
      ByHand<Net, Exec> const fused(exec, batch, wants_input);
      auto const close = [&](auto const& a, auto const& b, int count) {
        return difference(a, b, 0, count) <= bound * largest(a, 0, count);
      };
      CHECK(close(plain.y, fused.y, int(plain.y.size())));
      auto const &a = plain.model.gradients(), &b = fused.model.gradients();
      double most = 0;  // a sum that is zero but for roundings is compared with the largest
      for (Node const& n : Net::program::nodes.node)
        for (ParameterTensor const& t : n.parameter)
          if (t.count > 0) most = std::fmax(most, largest(a, t.offset, t.count));
      CHECK((batch == 1 || most > 1e-3));  // one sample's normalisation passes nothing on
      for (Node const& n : Net::program::nodes.node)
        for (ParameterTensor const& t : n.parameter) {
          CAPTURE(t.offset);
          if (t.count > 0) CHECK(difference(a, b, t.offset, t.count) <= bound * most);
        }
      if (!wants_input) continue;
      CHECK((batch == 1 || largest(plain.d_x, 0, int(plain.d_x.size())) > 1e-6));
      CHECK(close(plain.d_x, fused.d_x, int(plain.d_x.size())));
    }
}

template <class Net, class Exec> void compare_two_losses() {
  using Both = Losses<On<left, CrossEntropy>, On<right, MeanSquaredError, 0.5>>;
  constexpr int batch = 19;
  Space const exec;
  auto const x = view_of<Kokkos::LayoutRight, Net::input.rank>(Net::input, batch);
  auto const values = view_of<Kokkos::LayoutRight, 0>(Shape{2}, batch);
  Kokkos::View<int*, Kokkos::HostSpace> const labels("labels", batch);
  fill(x, 1);
  fill(values, 2);
  for (int i = 0; i < batch; ++i) labels(i) = i % 3;
  auto const targets = tensors(named<left>(labels), named<right>(values));
  Sgd const rule{.rate = 0.05};
  Trainer<Net, Both, Sgd, Full<double>, Local, Plain> plain(exec, rule,
                                                            {.batch = batch, .seed = 3});
  Trainer<Net, Both, Sgd, Full<double>, Local, Exec> fused(exec, rule, {.batch = batch, .seed = 3});
  for (int step = 0; step < 5; ++step) {
    plain.step(x, targets);
    fused.step(x, targets);
  }
  exec.fence("two losses");
  CHECK(fused.loss() == doctest::Approx(plain.loss()).epsilon(1e-11));
  int const count = Net::program::nodes.arena_size;
  auto const& a = plain.model().parameters();
  CHECK(difference(a, fused.model().parameters(), 0, count) <= 1e-11 * largest(a, 0, count));
}

}  // namespace

TEST_CASE("training segments: behind and in front of a batch normalisation") {
  compare_by_hand<Normalized>();
  PHYLLO_IN_VERIFY(compare_by_hand<Normalized, OfReference>();)
  compare_by_hand<Normalized, OfPortable>();
  compare_with_reference<Normalized>();
}
TEST_CASE("training segments: row normalisations inside") {
  compare_by_hand<NormalizedRows>();
  PHYLLO_IN_VERIFY(compare_by_hand<NormalizedRows, OfReference>();)
  compare_with_reference<NormalizedRows>();
}
TEST_CASE("training segments: a trunk of convolutions, two heads and two losses") {
  compare_two_losses<TrunkAndHeads, Fused>();
  compare_two_losses<HeadsOnImages, Fused>();
  PHYLLO_IN_VERIFY(compare_two_losses<TrunkAndHeads, OfPortable>();)
}
TEST_CASE("training segments: a sum of a segment's input") { compare_by_hand<SumOfInput>(); }
TEST_CASE("training segments: the input gradient of a segment that begins with an image") {
  compare_by_hand<ImageBehindWork>();
}
TEST_CASE("training segments: images as the result, and in front of normalisations") {
  compare_by_hand<ImageResult>();
  compare_by_hand<NormalizedImages>();
  PHYLLO_IN_VERIFY(compare_by_hand<ImagesBehindWork>();)
}
TEST_CASE("training segments: the whole network by hand") {
  compare_by_hand<WholeNetwork>();
  PHYLLO_IN_VERIFY(compare_by_hand<WholeNetwork, OfReference>();)
}
TEST_CASE("training segments: layers that no output depends on have gradients of zero") {
  compare_by_hand<DeadLayers>();
}
