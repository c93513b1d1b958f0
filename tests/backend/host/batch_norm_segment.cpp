// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Batch normalisations in training as the first layers of segments: against plain loops layer by
// layer.

#include <phyllo/backend/select.hpp>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/host/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

struct heads;

// Widths around vectors and panels, chains whose derivative is one of their input, of their result,
// of both and of masks, sums and row normalisations behind the Linear layer.
// clang-format off
struct Odd : Network<Input<7>, Linear<33>, BatchNorm<>, GELU, Linear<17, Bias<false>>, BatchNorm<>, Tanh, Dropout<0.2>, Linear<1>, BatchNorm<>,
                     Linear<3>> {};
struct Even : Network<Input<16>, Linear<64>, BatchNorm<>, ReLU, Linear<128>, BatchNorm<>, Sigmoid, Linear<64>, Tanh, Linear<16>> {};
struct Joined : Network<Input<5>, Linear<24>, BatchNorm<>, Residual<Linear<24>, Tanh>, LayerNorm<>, Linear<9>, BatchNorm<>, SiLU, Linear<2>> {};
// An image of one position; what is computed twice; an output behind a normalisation, which has no Linear layer behind it.
struct Again : Network<Input<6>, Linear<6>, Reshape<6, 1, 1>, BatchNorm<>, ReLU, Flatten, Linear<20>,
                       Recompute<BatchNorm<>, Tanh, Linear<20>, BatchNorm<>, GELU, Linear<20>>, BatchNorm<>, Tanh> {};


// What stays layer by layer.
struct Wide : Network<Input<4>, Linear<129>, BatchNorm<>, Linear<2>> {};
struct First : Network<Input<4>, BatchNorm<>, Linear<2>> {};
struct Seen : Network<Input<4>, Linear<4>, Output<heads>, BatchNorm<>, Linear<2>, Output<First>> {};
struct Around : Network<Input<4>, Linear<4>, Residual<BatchNorm<>, Linear<4>>, Linear<2>> {};
struct Bare : Network<Input<4>, Linear<4>, BatchNorm<Affine<false>>, Linear<2>> {};
struct Everywhere : Network<Input<4>, Linear<4>, BatchNorm<Statistics::Global>, Linear<2>> {};
struct Image : Network<Input<2, 3, 3>, Conv2d<4, Padding<1>>, BatchNorm<>, Flatten, Linear<2>> {};
// clang-format on

template <class Net, class P = Full<float>> constexpr int fused_normalizations() {
  using Plan = NetworkPlan<Net, Phase::training, P, Tiles>;
  int count = 0;
  for (int s = 0; s < Plan::plan.size; ++s) count += Plan::begins_with_batch_normalization(s);
  return count;
}
static_assert(fused_normalizations<Odd>() == 3);
static_assert(fused_normalizations<Even>() == 2);
static_assert(fused_normalizations<Joined>() == 2);
static_assert(fused_normalizations<Again>() == 3);
static_assert(fused_normalizations<Wide>() == 0);
static_assert(fused_normalizations<First>() == 0);
static_assert(fused_normalizations<Seen>() == 0);
static_assert(fused_normalizations<Around>() == 0);
static_assert(fused_normalizations<Bare>() == 0);
static_assert(fused_normalizations<Everywhere>() == 0);
static_assert(fused_normalizations<Image>() == 0);
static_assert(fused_normalizations<Even, Mixed<bf16, float>>() == 0);

using Rows = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

// Steps with momentum, whose running statistics and losses agree, then gradients by hand.
template <class Net, class P> void compare_training(int batch) {
  CAPTURE(batch);
  Space const exec;
  auto const samples = std::size_t(batch);
  Rows const x("x", samples, Net::input.size()), t("t", samples, Net::output.size());
  fill(x, 1);
  fill(t, 2);
  Sgd const rule{.rate = 0.05, .momentum = 0.9};
  Trainer<Net, MeanSquaredError, Sgd, P, Local, Plain> plain(exec, rule,
                                                             {.batch = batch, .seed = 3});
  Trainer<Net, MeanSquaredError, Sgd, P, Local, Tiles> tiles(exec, rule,
                                                             {.batch = batch, .seed = 3});
  constexpr double near = std::is_same_v<typename P::accumulate, double> ? 1e-11 : 1e-4;
  auto const same = [&](auto const& a, auto const& b) {
    auto const d = distance(a, b, 0, int(a.size()));
    CHECK(d.norm > 0);
    CHECK(d.difference <= near * d.norm);
  };
  for (int step = 0; step < 3; ++step) {
    plain.step(x, t);
    tiles.step(x, t);
    CHECK(tiles.loss() == doctest::Approx(plain.loss()).epsilon(near));
  }
  same(plain.model().parameters(), tiles.model().parameters());
  same(plain.model().buffers(), tiles.model().buffers());
  Rows const y_plain("y", samples, Net::output.size()), y_tiles("y", samples, Net::output.size()),
      d_plain("d", samples, Net::input.size()), d_tiles("d", samples, Net::input.size());
  Kokkos::deep_copy(tiles.model().parameters(), plain.model().parameters());
  Kokkos::deep_copy(tiles.model().gradients(), typename P::accumulate(NAN));
  plain.model().forward(exec, x, y_plain);
  plain.model().backward(exec, t, d_plain);
  tiles.model().forward(exec, x, y_tiles);
  tiles.model().backward(exec, t, d_tiles);
  exec.fence("by hand");
  same(y_plain, y_tiles);
  same(d_plain, d_tiles);
  // Between tensors there are elements of none.
  for (Node const& n : Net::program::nodes.node)
    for (ParameterTensor const& tensor : n.parameter) {
      auto const d = distance(plain.model().gradients(), tiles.model().gradients(),
                              tensor.count > 0 ? tensor.offset : 0, tensor.count);
      CAPTURE(tensor.offset);
      // In front of a normalisation the gradient of a bias is zero but for roundings.
      CHECK(d.difference <= near * (d.norm + 1));
    }
}

}  // namespace

TEST_CASE_TEMPLATE("openmp: batch normalisations begin segments of training", Net, Odd, Joined,
                   Again) {
  for (int const batch : {3, 5, 63, 64, 65, 200}) compare_training<Net, Full<double>>(batch);
}
TEST_CASE("openmp: batch normalisations whose rows are read where they are") {
  for (int const batch : {3, 64, 130}) compare_training<Even, Full<float>>(batch);
}

#endif
