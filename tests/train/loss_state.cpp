// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's loss with a member, and class weights: gradients against central differences in every
// backend, in whole steps, tiles of short rows and long rows, and what a loss set later changes.

#include <phyllo/backend/host/loss_tile.hpp>
#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <finite_difference.hpp>
#include <sentence_of.hpp>

#include <cmath>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Host = Kokkos::HostSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Host>;

// The loss of docs/25_write_a_loss.md.
struct Charbonnier {
  [[maybe_unused]] static constexpr char const* name = "charbonnier";
  static constexpr bool classes = false;
  float width = 1;

  template <class Row> KOKKOS_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const w = T(width), share = T(1) / T(y.channels());
    auto const root = [&](T d) { return Kokkos::sqrt(d * d + w * w); };
    y.gradient([&](int c) {
      T const d = y(c) - y.target(c);
      return share * d / root(d);
    });
    return share * y.sum([&](int c) { return root(y(c) - y.target(c)) - w; });
  }
};

template <class L> struct ThreeOf;  // objects of a loss: as constructed, and two others
template <> struct ThreeOf<Charbonnier> {
  Charbonnier const object[3] = {{}, {0.25f}, {4}};
};
template <> struct ThreeOf<WeightedCrossEntropy> {
  Kokkos::View<float*, Host> weights[2] = {fill(0.5f, 0.25f), fill(3, -0.125f)};
  WeightedCrossEntropy const object[3] = {
      {}, WeightedCrossEntropy(weights[0]), WeightedCrossEntropy(weights[1])};
  static Kokkos::View<float*, Host> fill(float first, float step) {
    Kokkos::View<float*, Host> w("weights", 3);
    for (int c = 0; c < 3; ++c) w(c) = first + step * float(c);
    return w;
  }
};

using Default = DefaultBackends<Space>::type;
constexpr int batch = 19;
struct Net : Network<Input<4>, Linear<9>, Tanh, Linear<3>> {};

Matrix inputs() {
  Matrix x("x", batch, 4);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.3 + 1.9 * double(i));
  return x;
}
template <class L> auto targets() {
  if constexpr (L::classes) {
    Kokkos::View<int*, Host> t("t", batch);
    for (int n = 0; n < batch; ++n) t(n) = (n * 7 + 1) % 3;
    return t;
  } else {
    Matrix t("t", batch, 3);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = 2 * std::sin(0.7 * double(i));
    return t;
  }
}
template <class T> std::vector<double> parameters_of(T const& trainer) {
  auto const& p = trainer.model().master();
  return {p.data(), p.data() + p.size()};
}

template <class L, class Backend, FusionLevel Level>
using TrainerOf = Trainer<Net, L, Sgd, Full<double>, Local, Execution<Space, Backend, Level>>;

// Losses and parameters after two steps, one before the loss is set and one after.
template <class L, class Backend, FusionLevel Level> std::vector<double> check(L const& loss) {
  Space const exec;
  TrainerOf<L, Backend, Level> trainer(exec, Sgd{.rate = 1}, {.batch = batch});
  auto const x = inputs();
  auto const t = targets<L>();
  std::vector<double> results{trainer.evaluate(x, t).loss};
  trainer.set_loss(loss);
  auto const& p = trainer.model().parameters();
  auto const differences =
      central_differences(p.data(), p.size(), [&] { return trainer.evaluate(x, t).loss; });
  auto gradient = parameters_of(trainer);
  trainer.step(x, t);
  results.push_back(trainer.loss());
  auto const after = parameters_of(trainer);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= after[i];
  CHECK(relative_error(gradient, differences) <= 1e-6);
  results.insert(results.end(), after.begin(), after.end());
  return results;
}

template <class L> void check_state() {
  ThreeOf<L> const three;
  double value[3];
  for (int k = 0; k < 3; ++k) {
    L const& loss = three.object[k];
    auto const plain = check<L, Backends<ReferenceBackend>, FusionLevel::epilogue>(loss);
    value[k] = plain[1];
    CHECK(relative_error(plain, check<L, Backends<PortableBackend>, FusionLevel::epilogue>(loss)) <=
          1e-13);
    CHECK(relative_error(plain, check<L, Backends<PortableBackend>, FusionLevel::segment>(loss)) <=
          1e-13);
    CHECK(relative_error(plain, check<L, Default, FusionLevel::epilogue>(loss)) <= 1e-13);
    CHECK(relative_error(plain, check<L, Default, FusionLevel::segment>(loss)) <= 1e-13);
  }
  CHECK(value[0] != value[1]);
  CHECK(value[1] != value[2]);
}

}  // namespace

TEST_CASE("a loss with members, and another one in later steps") {
  check_state<Charbonnier>();
  check_state<WeightedCrossEntropy>();
}

namespace {

// The loss and the gradient of one Linear layer of C outputs by hand.
template <int C> void check_weights(double of_sample_two) {
  struct Head : Network<Input<2>, Linear<C, Bias<false>>> {};
  Space const exec;
  Trainer<Head, WeightedCrossEntropy, Sgd, Full<double>, Local, Execution<Space>> weighted(
      exec, Sgd{.rate = 1}, {.batch = 2, .seed = 5});
  Trainer<Head, CrossEntropy, Sgd, Full<double>, Local, Execution<Space>> plain(
      exec, Sgd{.rate = 1}, {.batch = 2, .seed = 5});
  Kokkos::View<float*, Host> weights("weights", C);
  Kokkos::deep_copy(weights, 2.0f);
  weights(1) = float(of_sample_two);
  weighted.set_loss(WeightedCrossEntropy(weights));
  Kokkos::View<double[2][2], Host> x("x");
  x(0, 0) = x(1, 1) = 1;  // each sample has a row of weights of its own
  Kokkos::View<int[2], Host> t("t");
  t(0) = C - 1;
  t(1) = 1;
  auto const before = parameters_of(plain);
  plain.step(x, t);
  weighted.step(x, t);
  auto const once = parameters_of(plain), twice = parameters_of(weighted);
  for (std::size_t i = 0; i < 2 * C; ++i)
    CHECK(twice[i] - before[i] ==
          doctest::Approx((i < C ? 2 : of_sample_two) * (once[i] - before[i])).epsilon(1e-12));
}

struct first;
struct second;
struct TwoHeads : Network<Input<4>, Linear<3>, Output<first>, Tanh, Linear<3>, Output<second>> {};

}  // namespace

TEST_CASE("class weights multiply the gradients of their samples, in short and long rows") {
  check_weights<3>(0.5);
  check_weights<63>(0);
  check_weights<64>(0.5);
  check_weights<300>(-1.5);
}

TEST_CASE("class weights of another number than the classes, or with a stride") {
  Space const exec;
  TrainerOf<WeightedCrossEntropy, Default, FusionLevel::segment> trainer(exec, Sgd{});
  Kokkos::View<float*, Host> const four("weights", 4);
  CHECK(sentence_of([&] { trainer.set_loss(WeightedCrossEntropy(four)); }) ==
        "Net: expected 3 contiguous class weights, one for each channel of the output, got 4.");
  Kokkos::View<float**, Kokkos::LayoutRight, Host> const table("weights", 3, 2);
  CHECK(sentence_of([&] {
          trainer.set_loss(WeightedCrossEntropy(Kokkos::subview(table, Kokkos::ALL, 1)));
        }) ==
        "Net: expected 3 contiguous class weights, one for each channel of the output, got weights "
        "with a stride.");
}

TEST_CASE("the losses of several outputs are set by tag; shards add what each of them has") {
  Space const exec;
  auto const loss_of = [&]<class Exec>(Exec, float one, float two) {
    Trainer<TwoHeads, Losses<On<first, Charbonnier>, On<second, Charbonnier, 0.5>>, Sgd,
            Full<double>, Local, Exec>
        trainer(exec, Sgd{}, {.batch = batch});
    trainer.template set_loss<first>(Charbonnier{one});
    trainer.template set_loss<second>(Charbonnier{two});
    auto const t = targets<Charbonnier>();
    auto const wanted = tensors(named<first>(t), named<second>(t));
    double const evaluated = trainer.evaluate(inputs(), wanted).loss;
    trainer.step(inputs(), wanted);
    CHECK(trainer.loss() == doctest::Approx(evaluated).epsilon(1e-13));
    return evaluated;
  };
  double const narrow = loss_of(Execution<Space>{}, 0.1f, 0.1f);
  double const one = loss_of(Execution<Space>{}, 3, 0.1f) - narrow;
  double const two = loss_of(Execution<Space>{}, 0.1f, 3) - narrow;
  CHECK(one < -0.05);
  CHECK(two < -0.05);
  CHECK(loss_of(Execution<Space>{}, 3, 3) == doctest::Approx(narrow + one + two).epsilon(1e-13));
  using InShards = Execution<Space, Default, FusionLevel::segment, Reproducible<4>>;
  CHECK(loss_of(InShards{}, 3, 0.1f) == doctest::Approx(narrow + one).epsilon(1e-13));
}

namespace {

// The square of the first channel, whose gradient alone it gives, or those of all.
template <bool All> struct FirstChannel {
  [[maybe_unused]] static constexpr char const* name = "first_channel";
  static constexpr bool classes = false;

  template <class Row> KOKKOS_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    auto const slope = [&](int c) { return c == 0 ? T(2) * (y(c) - y.target(c)) : T(0); };
    if constexpr (All)
      y.gradient(slope);
    else
      y.gradient(0, 1, slope);
    return y.sum(1, [&](int c) { return (y(c) - y.target(c)) * (y(c) - y.target(c)); });
  }
};
// The same of a class index, several rows at a time: no gradient at all, or zeros.
template <bool All> struct NoGradient {
  [[maybe_unused]] static constexpr char const* name = "no_gradient";
  static constexpr bool classes = true, side_by_side = true;

  template <class Row> KOKKOS_FUNCTION auto operator()(Row const& y) const {
    auto const softmax = y.softmax();  // which may use the memory of the gradient
    if constexpr (All) y.gradient([&](int c) { return y(c) - y(c); });
    return softmax.sum + y.sum([&](int c) { return y(c) * y.is_label(c); });
  }
};

template <class N, class L, class Backend, FusionLevel Level>
std::vector<double> trained_weights() {
  Space exec;
  Trainer<N, L, Adam, Full<double>, Local, Execution<Space, Backend, Level>> trainer(
      exec, Adam{.rate = 1e-2}, {.batch = batch, .seed = 3});
  for (int step = 0; step < 3; ++step) trainer.step(inputs(), targets<L>());
  auto const& weights = trainer.model().parameters();
  exec.fence();
  return {weights.data(), weights.data() + weights.size()};
}

struct Wide
    : Network<Input<4>, Linear<200>, BatchNorm<>, Tanh, Linear<70>, LayerNorm<>, SiLU, Linear<3>> {
};

template <class N, class Backend, FusionLevel Level> void check_given() {
  CHECK(trained_weights<N, FirstChannel<false>, Backend, Level>() ==
        trained_weights<N, FirstChannel<true>, Backend, Level>());
  CHECK(trained_weights<N, NoGradient<false>, Backend, Level>() ==
        trained_weights<N, NoGradient<true>, Backend, Level>());
}

// Gives the gradient of two parts of a row.
struct Parts {
  static constexpr bool classes = false;
  int first[2], count[2];
  template <class Row> double operator()(Row const& y) const {
    for (int k = 0; k < 2; ++k)
      if (count[k] > 0) y.gradient(first[k], count[k], [](int c) { return 1.0 + c; });
    return 0;
  }
};

// Asks for the softmax once the gradient is given.
struct SoftmaxLast {
  static constexpr bool classes = false;
  template <class Row> auto operator()(Row const& y) const {
    y.gradient([](int c) { return typename Row::number(1.0 + c); });
    auto const softmax = y.softmax();
    return softmax.largest + softmax.sum;
  }
};

// Two parts of what is above, and a sum of the first channels.
struct PartsSideBySide {
  template <class Row> auto operator()(Row const& y) const {
    using T = typename Row::number;
    y.gradient(1, 1, [](int c) { return T(1.0 + c); });
    y.gradient(3, 2, [](int c) { return T(1.0 + c); });
    return y.sum(2, [](int c) { return T(1.0 + c); }) + y.at_label([](int c) { return T(c); });
  }
};

struct NoTarget {
  double operator()(int) const { return 0; }
};

}  // namespace

TEST_CASE("channels whose gradient a loss does not give have none") {
  check_given<Net, Default, FusionLevel::segment>();
  check_given<Net, Default, FusionLevel::epilogue>();
  check_given<Wide, Default, FusionLevel::segment>();
  check_given<Net, Backends<PortableBackend>, FusionLevel::segment>();
  check_given<Wide, Backends<PortableBackend>, FusionLevel::epilogue>();
  check_given<Wide, Backends<ReferenceBackend>, FusionLevel::epilogue>();
}

// Rows of numbers that are none, whose parts are given in any order.
TEST_CASE_TEMPLATE("parts of a row's gradient", Loops, op::SerialLoops, op::VectorLoops) {
  constexpr int channels = 70;
  std::vector<double> const z(channels);
  for (Parts const parts : {Parts{{0, 0}, {0, 0}}, Parts{{0, 0}, {1, 0}}, Parts{{69, 0}, {1, 0}},
                            Parts{{3, 3}, {4, 4}}, Parts{{2, 40}, {5, 30}}, Parts{{40, 2}, {20, 5}},
                            Parts{{35, 0}, {35, 35}}, Parts{{0, 35}, {35, 35}}})
    for (bool const added : {false, true}) {
      std::vector<double> d(channels, added ? 0.5 : NAN);
      op::GradientRow<double, double> const gradient{d.data(), 2, added};
      op::LossRow<Parts, double, double, Loops, NoTarget> const row({}, channels, z.data(),
                                                                    NoTarget{}, gradient);
      row.evaluate(parts);
      for (int c = 0; c < channels; ++c) {
        int given = 0;
        for (int k = 0; k < 2; ++k)
          given += c >= parts.first[k] && c < parts.first[k] + parts.count[k];
        CHECK(d[std::size_t(c)] == (added       ? 0.5 + given * 2 * (1.0 + c)
                                    : given > 0 ? 2 * (1.0 + c)
                                                : 0));
      }
    }
}

TEST_CASE_TEMPLATE("a softmax does not take the memory of a gradient that is there", Loops,
                   op::SerialLoops, op::VectorLoops) {
  for (int const channels : {31, 70, 700}) {
    std::vector<double> const z(std::size_t(channels), 0.5);
    std::vector<double> d(z.size(), NAN);
    op::LossRow<SoftmaxLast, double, double, Loops, NoTarget> const row(
        {}, channels, z.data(), NoTarget{}, op::GradientRow<double, double>{d.data(), 2, false});
    CHECK(row.evaluate({}) == doctest::Approx(0.5 + channels));
    for (int c = 0; c < channels; ++c) CHECK(d[std::size_t(c)] == 2 * (1.0 + c));
  }
}

TEST_CASE("rows side by side: a softmax behind a gradient, and parts of it") {
  constexpr int channels = 6, rows = host::Lanes<double>::size;
  std::vector<double> const z(channels * rows, 0.5);
  std::vector<int> const labels(rows, 2);
  std::vector<double> d(z.size(), NAN);
  auto const row = [&] {
    return host::TileRow<double>(channels, z.data(), labels.data(), 2, d.data());
  };
  auto const whole = row().evaluate(SoftmaxLast{});
  for (int r = 0; r < rows; ++r) CHECK(whole[r] == doctest::Approx(0.5 + channels));
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < rows; ++r) CHECK(d[std::size_t(c * rows + r)] == 2 * (1.0 + c));
  auto const parts = row().evaluate(PartsSideBySide{});
  for (int r = 0; r < rows; ++r) CHECK(parts[r] == 1 + 2 + 2);
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < rows; ++r)
      CHECK(d[std::size_t(c * rows + r)] == (c == 1 || c == 3 || c == 4 ? 2 * (1.0 + c) : 0));
}
