// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The caller's Views are read and written as they are where layout and type allow: no transfer is
// launched, and the numbers are those of copies.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
template <class Net> using HostModel = Model<Net, Full<float>, Execution<Space>>;

// clang-format off
struct Normalized : Network<Input<16>, BatchNorm<>, Linear<16>, BatchNorm<>, Tanh> {};
struct Skipped : Network<Input<16>, BatchNorm<>, Save<struct first>, Linear<16>, BatchNorm<>, AddFrom<first>> {};
struct OneChannel : Network<Input<1, 8, 8>, BatchNorm<>, Conv2d<16, KernelSize<3>, Padding<1>>, BatchNorm<>> {};
struct Colours : Network<Input<4, 4, 4>, Conv2d<8, KernelSize<1>>, BatchNorm<>, ReLU> {};
struct Perceptron : Network<Input<16>, Linear<16>, ReLU, Linear<16>> {};
struct OfOutput : Network<Input<16>, ReLU> {};
struct OfInput : Network<Input<16>, GELU> {};
struct Reversed : Network<Input<16>, Flip<1>> {};
struct Doubled : Network<Input<16>, Save<struct first>, BatchNorm<>, ReLU, AddFrom<first>, Tanh> {};
struct Beside : Network<Input<8>, Save<struct first>, SiLU, ConcatFrom<first>> {};
struct Averaged : Network<Input<16>, Softmax> {};
// clang-format on

int transfers = 0;
void count_transfers(char const* name, std::uint32_t, std::uint64_t*) {
  transfers += std::strstr(name, "/transfer") != nullptr;
}
template <class Call> int transfers_of(Call const& call) {
  namespace Tools = Kokkos::Tools::Experimental;
  Tools::set_begin_parallel_for_callback(count_transfers);
  transfers = 0;
  call();
  Tools::set_begin_parallel_for_callback(nullptr);
  return transfers;
}

template <class View> void fill(View const& v, unsigned seed) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v.data()[i] = typename View::value_type(2 * random_uniform(seed, 0, 0, i, 0) - 1);
}
template <class A, class B> bool equal(A const& a, B const& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (float(a.data()[i]) != float(b.data()[i])) return false;
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("views in place: inference copies neither inputs nor outputs", Net, Normalized,
                   Skipped, Perceptron) {
  Space const exec;
  HostModel<Net> const model(exec, {.batch = 8});
  Matrix const x("x", 8, 16), y("y", 8, 16), kept("kept", 8, 16);
  Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace> const columns("columns", 8, 16);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const wide("wide", 8, 16);
  fill(x, 1);
  Kokkos::deep_copy(kept, x);
  Kokkos::deep_copy(columns, x);
  Kokkos::deep_copy(wide, x);
  CHECK(transfers_of([&] { model.infer(exec, x, y); }) == 0);
  exec.fence("in place");
  CHECK(equal(x, kept));
  bool const takes_any = std::is_same_v<Net, Perceptron>;  // its kernel reads every layout and type
  Matrix const of_columns("y", 8, 16), of_wide("y", 8, 16);
  CHECK(transfers_of([&] { model.infer(exec, columns, of_columns); }) == (takes_any ? 0 : 1));
  CHECK(transfers_of([&] { model.infer(exec, wide, of_wide); }) == (takes_any ? 0 : 1));
  exec.fence("copied");
  CHECK(equal(y, of_columns));
  CHECK(equal(y, of_wide));
  // Three batches: those of four samples begin where a slot may, those of three do not.
  HostModel<Net> const small(exec, {.batch = 4}), odd(exec, {.batch = 3});
  Matrix const parts("y", 8, 16);
  CHECK(transfers_of([&] { small.infer(exec, x, parts); }) == 0);
  exec.fence("parts");
  Kokkos::deep_copy(small.parameters(), model.parameters());
  small.infer(exec, x, parts);
  exec.fence("parts");
  CHECK(equal(y, parts));
  Kokkos::deep_copy(odd.parameters(), model.parameters());
  Kokkos::deep_copy(parts, 0);
  odd.infer(exec, x, parts);
  exec.fence("parts");
  CHECK(equal(y, parts));
}

TEST_CASE_TEMPLATE("views in place: outputs over inputs", Net, Normalized, Skipped) {
  Space const exec;
  HostModel<Net> const model(exec, {.batch = 8});
  Matrix const x("x", 8, 16), y("y", 8, 16);
  fill(x, 1);
  model.infer(exec, x, y);
  exec.fence("apart");
  // The same View, and one that begins inside of it.
  Matrix const both("both", 12, 16);
  auto const in = Kokkos::subview(both, std::pair(0, 8), Kokkos::ALL);
  auto const out = Kokkos::subview(both, std::pair(4, 12), Kokkos::ALL);
  Kokkos::deep_copy(in, x);
  model.infer(exec, in, out);
  exec.fence("overlapping");
  for (int n = 0; n < 8; ++n)
    for (int c = 0; c < 16; ++c) CHECK(out(n, c) == y(n, c));
  model.infer(exec, x, x);
  exec.fence("the same");
  CHECK(equal(x, y));
}

TEST_CASE("views in place: images of one channel, and with their channels last") {
  Space const exec;
  HostModel<OneChannel> const one(exec, {.batch = 3});
  Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", 3, 1, 8, 8),
      y("y", 3, 16, 8, 8), last("last", 3, 8, 8, 16);
  fill(x, 1);
  CHECK(transfers_of([&] { one.infer(exec, x, channels_last(last)); }) == 0);
  CHECK(transfers_of([&] { one.infer(exec, x, y); }) == 1);
  exec.fence("one channel");
  for (int n = 0; n < 3; ++n)
    for (int c = 0; c < 16; ++c)
      for (int h = 0; h < 8; ++h)
        for (int w = 0; w < 8; ++w) CHECK(y(n, c, h, w) == last(n, h, w, c));

  HostModel<Colours> const colours(exec, {.batch = 3});
  Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace> const first("x", 3, 4, 4, 4),
      pixels("x", 3, 4, 4, 4), of_first("y", 3, 8, 4, 4), of_pixels("y", 3, 4, 4, 8);
  fill(first, 2);
  for (int n = 0; n < 3; ++n)
    for (int c = 0; c < 4; ++c)
      for (int h = 0; h < 4; ++h)
        for (int w = 0; w < 4; ++w) pixels(n, h, w, c) = first(n, c, h, w);
  CHECK(transfers_of([&] { colours.infer(exec, first, of_first); }) == 2);
  CHECK(transfers_of(
            [&] { colours.infer(exec, channels_last(pixels), channels_last(of_pixels)); }) == 0);
  exec.fence("colours");
  for (int n = 0; n < 3; ++n)
    for (int c = 0; c < 8; ++c)
      for (int h = 0; h < 4; ++h)
        for (int w = 0; w < 4; ++w) CHECK(of_first(n, c, h, w) == of_pixels(n, h, w, c));
  CHECK_THROWS_AS(colours.infer(exec, channels_last(of_pixels), channels_last(of_pixels)), Error);
}

TEST_CASE_TEMPLATE("views in place: training steps", Net, Normalized, Skipped, Perceptron) {
  Space const exec;
  using Training = Trainer<Net, MeanSquaredError, Sgd>;
  Training placed(exec, {.rate = 0.1f}, {.batch = 8}), copied(exec, {.rate = 0.1f}, {.batch = 8});
  Matrix const x("x", 8, 16), y("y", 8, 16), room("room", 9, 16);
  fill(x, 1);
  fill(y, 2);
  // Four bytes behind a place where a slot may begin.
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const
      shifted(room.data() + 1, 8, 16);
  Kokkos::deep_copy(shifted, x);
  placed.step(x, y);
  copied.step(shifted, y);
  CHECK(transfers_of([&] { placed.step(x, y); }) == 0);
  CHECK(transfers_of([&] { copied.step(shifted, y); }) ==
        (std::is_same_v<Net, Perceptron> ? 0 : 1));
  exec.fence("steps");
  CHECK(placed.loss() == copied.loss());
  CHECK(equal(placed.model().parameters(), copied.model().parameters()));
}

TEST_CASE("views in place: between forward and backward by hand the caller's View may change") {
  Space const exec;
  HostModel<Perceptron> first(exec, {.batch = 8}), second(exec, {.batch = 8});
  Matrix const x("x", 8, 16), y("y", 8, 16), d_y("d_y", 8, 16);
  fill(x, 1);
  fill(d_y, 2);
  first.forward(exec, x, y);
  first.backward(exec, d_y);
  second.forward(exec, x, y);
  Kokkos::deep_copy(x, 0);
  second.backward(exec, d_y);
  exec.fence("by hand");
  for (int i = 0; i < Perceptron::program::nodes.arena_size; ++i)
    CHECK(first.gradients()(i) == second.gradients()(i));
}

// No transfer of: the input, the output, its gradient, the gradient of the input.
template <class Net> struct ByHand;
template <> struct ByHand<OfOutput> {
  static constexpr int forward = 1, backward = 0;
};
template <> struct ByHand<OfInput> {
  static constexpr int forward = 1, backward = 0;
};
template <> struct ByHand<Reversed> {
  static constexpr int forward = 0, backward = 0;
};
template <> struct ByHand<Doubled> {
  static constexpr int forward = 2, backward = 0;
};
template <> struct ByHand<Beside> {
  static constexpr int forward = 1, backward = 0;
};
template <> struct ByHand<Averaged> {
  static constexpr int forward = 1, backward = 0;
};
template <> struct ByHand<Perceptron> {
  static constexpr int forward = 1, backward = 0;
};

TEST_CASE_TEMPLATE("views in place: forward and backward by hand", Net, OfOutput, OfInput, Reversed,
                   Doubled, Beside, Averaged, Perceptron) {
  constexpr int width = Net::input.channels, columns = Net::output.channels;
  Space const exec;
  HostModel<Net> placed(exec, {.batch = 8}), copied(exec, {.batch = 8});
  Matrix const x("x", 8, width), y("y", 8, columns), d_y("d_y", 8, columns), d_x("d_x", 8, width);
  using Columns = Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  Columns const x_left("x", 8, width), y_left("y", 8, columns), d_y_left("d_y", 8, columns),
      d_x_left("d_x", 8, width);
  auto const is_same = [&](Matrix const& a, Columns const& b) {
    bool same = true;
    for (std::size_t n = 0; n < a.extent(0); ++n)
      for (std::size_t c = 0; c < a.extent(1); ++c) same = same && a(n, c) == b(n, c);
    return same;
  };
  fill(x, 1);
  fill(d_y, 2);
  Kokkos::deep_copy(x_left, x);
  Kokkos::deep_copy(d_y_left, d_y);
  copied.forward(exec, x_left, y_left);
  copied.backward(exec, d_y_left, d_x_left);
  CHECK(transfers_of([&] { placed.forward(exec, x, y); }) == ByHand<Net>::forward);
  exec.fence("forward");
  CHECK(is_same(y, y_left));
  // All that the caller gave may change before the backward pass.
  Kokkos::deep_copy(x, 7);
  Kokkos::deep_copy(y, 7);
  CHECK(transfers_of([&] { placed.backward(exec, d_y, d_x); }) == ByHand<Net>::backward);
  exec.fence("backward");
  CHECK(is_same(d_x, d_x_left));
  CHECK(is_same(d_y, d_y_left));
  CHECK(equal(placed.gradients(), copied.gradients()));

  // The output over the input, and the gradient of the input over that of the output.
  if constexpr (width == columns) {
    Kokkos::deep_copy(x, x_left);
    placed.forward(exec, x, x);
    exec.fence("forward over the input");
    CHECK(is_same(x, y_left));
    placed.backward(exec, d_y, d_y);
    exec.fence("backward over the gradient");
    CHECK(is_same(d_y, d_x_left));
  }
}

TEST_CASE("views in place: outputs that are inputs of the network") {
  struct state;
  struct forcing;
  struct next;
  struct before;
  struct Step : Network<NamedInput<state, 4>, NamedInput<forcing, 4>, Output<next>, From<state>,
                        Reshape<4, 1>, Output<before>> {};
  struct Renamed : Network<Input<4>, Reshape<4, 1>> {};
  Space const exec;
  for (int const capacity : {8, 3}) {
    HostModel<Step> model(exec, {.batch = capacity});
    Matrix const u("u", 8, 4), v("v", 8, 4), u_before("u before", 8, 4), v_before("v", 8, 4);
    fill(u, 1);
    fill(v, 2);
    Kokkos::deep_copy(u_before, u);
    Kokkos::deep_copy(v_before, v);
    // An exchange of the two.
    Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const to(v.data(), 8, 4, 1);
    model.infer(exec, tensors(named<state>(u), named<forcing>(v)),
                tensors(named<next>(u), named<before>(to)));
    exec.fence();
    CHECK(equal(u, v_before));
    CHECK(equal(v, u_before));
  }
  // Each sample to the place of the next one.
  HostModel<Renamed> model(exec, {.batch = 64});
  Matrix const all("all", 41, 4), expected("expected", 41, 4);
  fill(all, 3);
  Kokkos::deep_copy(expected, all);
  Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const later(all.data() + 4, 40, 4,
                                                                             1);
  model.infer(exec, Kokkos::subview(all, std::pair(0, 40), Kokkos::ALL), later);
  exec.fence();
  for (int n = 0; n < 40; ++n)
    for (int c = 0; c < 4; ++c) CHECK(all(n + 1, c) == expected(n, c));
}

TEST_CASE_TEMPLATE("views in place: outputs in memory of other samples' inputs", Net, Normalized,
                   Skipped, Perceptron, OfInput) {
  Space const exec;
  constexpr int samples = 29, channels = 16;
  HostModel<Net> const whole(exec, {.batch = samples}), parts(exec, {.batch = 8});
  Matrix const x("x", samples, channels), expected("expected", samples, channels);
  fill(x, 3);
  whole.infer(exec, x, expected);
  exec.fence("apart");
  // Rows of one matrix, `by` rows apart.
  auto const shifted = [&](auto const& model, int by) {
    Matrix const rows("rows", samples + 3, channels);
    auto const from = [&](int first) {
      return Kokkos::subview(rows, std::make_pair(first, first + samples), Kokkos::ALL);
    };
    auto const in = from(by > 0 ? 0 : 3), out = from(by > 0 ? by : 3 + by);
    Kokkos::deep_copy(in, x);
    model.infer(exec, in, out);
    exec.fence("shifted");
    Matrix const got("got", samples, channels);
    Kokkos::deep_copy(got, out);
    return got;
  };
  for (int by : {1, 3, -1, -3}) CHECK(equal(expected, shifted(whole, by)));
  for (int by : {-1, -3}) CHECK(equal(expected, shifted(parts, by)));
  for (int by : {1, 3}) CHECK_THROWS_AS(shifted(parts, by), Error);
  Matrix const same("same", samples, channels);
  Kokkos::deep_copy(same, x);
  parts.infer(exec, same, same);
  exec.fence("in place");
  CHECK(equal(expected, same));
  // Columns of one matrix, side by side, and elements one between the others: nothing is shared.
  Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const beside("beside", samples, 2,
                                                                              channels);
  Kokkos::View<float***, Kokkos::LayoutLeft, Kokkos::HostSpace> const between("between", 2, samples,
                                                                              channels);
  auto const compare = [&](auto const& in, auto const& out) {
    Kokkos::deep_copy(in, x);
    parts.infer(exec, in, out);
    exec.fence("columns");
    Matrix const got("got", samples, channels);
    Kokkos::deep_copy(got, out);
    CHECK(equal(expected, got));
  };
  compare(Kokkos::subview(beside, Kokkos::ALL, 0, Kokkos::ALL),
          Kokkos::subview(beside, Kokkos::ALL, 1, Kokkos::ALL));
  compare(Kokkos::subview(between, 0, Kokkos::ALL, Kokkos::ALL),
          Kokkos::subview(between, 1, Kokkos::ALL, Kokkos::ALL));
}
