// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks that begin with convolutions and poolings, tile by tile as one kernel, against plain
// loops layer by layer: windows of every kind, channels around vectors, batches around tiles, the
// caller's Views of every layout.

#include <phyllo/backend/select.hpp>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/host/comparison.hpp>

#include <cstdint>
#include <type_traits>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
struct Padded : Network<Input<2, 9, 8>, Conv2d<5, Padding<1>>, Tanh, MaxPool2d<2>, Conv2d<17, KernelSize<2>>, GELU, Dropout<0.2>,
                        Flatten, Linear<19>, ReLU, Linear<3>> {};
struct Strided : Network<Input<3, 7, 6>, Conv2d<4, Stride<2>, Padding<1>>, Sigmoid,
                         Conv2d<6, KernelSize<3, 2>, Stride<2, 1>, Padding<1, 0>, Bias<false>>, AveragePool2d<2, Stride<1>, Padding<1>>, Tanh,
                         Flatten, Linear<5>> {};
struct Line : Network<Input<2, 31>, Conv1d<3, KernelSize<4>, Stride<2>, Padding<1>>, GELU, MaxPool1d<3, Stride<2>, Padding<1>>,
                      Conv1d<33>, Tanh, Flatten, Linear<2>> {};
struct Solid : Network<Input<1, 4, 5, 4>, Conv3d<3, KernelSize<2, 3, 2>, Stride<1, 2, 1>, Padding<0, 1, 1>>, ReLU, MaxPool3d<2, Padding<1>>,
                       Flatten, Linear<4>, Tanh> {};
struct PoolFirst : Network<Input<3, 8, 8>, MaxPool2d<3, Stride<2>>, ReLU, Dropout<0.3>, Conv2d<20, KernelSize<2>>, Tanh, GlobalAveragePool, Flatten,
                           Linear<2>> {};
// clang-format on

}  // namespace

TEST_CASE_TEMPLATE("openmp: padded images", P,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>, Full<double>,
                                                       Mixed<fp16, float>)) {
  compare_all<Padded, P>();
}
TEST_CASE_TEMPLATE("openmp: strided images", P,
                   Full<float> PHYLLO_IN_VERIFY(, Full<double>, Mixed<bf16, float>)) {
  compare_all<Strided, P>();
}
TEST_CASE_TEMPLATE("openmp: images of one dimension", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare_all<Line, P>();
}
TEST_CASE_TEMPLATE("openmp: images of three dimensions", P,
                   Full<float> PHYLLO_IN_VERIFY(, Full<double>)) {
  compare_all<Solid, P>();
}
TEST_CASE_TEMPLATE("openmp: pooling in front", P, Full<double> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare_all<PoolFirst, P>();
}

TEST_CASE("openmp: images of every layout and type of the caller") {
  using Net = Padded;
  constexpr int batch = 37;
  Space const exec;
  Model<Net, Full<float>, Tiles> model(exec, {.batch = 20, .seed = 1});
  auto const x = images<Net, float>(batch);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = float(i * 7 % 256);
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Rows const expected("expected", batch, 3), got("got", batch, 3);
  model.infer(exec, x, expected);
  auto const check = [&](auto const& same) {
    for (int n = 0; n < batch; ++n)
      for (int c = 0; c < 2; ++c)
        for (int h = 0; h < 9; ++h)
          for (int w = 0; w < 8; ++w)
            same(n, c, h, w) = typename std::decay_t<decltype(same)>::value_type(x(n, c, h, w));
    Kokkos::deep_copy(got, NAN);
    model.infer(exec, same, got);
    exec.fence("layouts");
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got.data()[i] == expected.data()[i]);
  };
  check(Kokkos::View<float****, Kokkos::LayoutLeft, Kokkos::HostSpace>("left", batch, 2, 9, 8));
  check(Kokkos::View<double****, Kokkos::LayoutRight, Kokkos::HostSpace>("f64", batch, 2, 9, 8));
  check(
      Kokkos::View<std::uint8_t****, Kokkos::LayoutRight, Kokkos::HostSpace>("u8", batch, 2, 9, 8));
  check(Kokkos::View<int****, Kokkos::LayoutRight, Kokkos::HostSpace>("i32", batch, 2, 9, 8));
}

TEST_CASE("openmp: the maximum of a window passes a not-a-number on, and its gradient") {
  using Net = Network<Input<1, 2, 4>, MaxPool2d<2>, Flatten, Linear<1, Bias<false>>>;
  Space const exec;
  Trainer<Net, MeanSquaredError, Sgd, Full<float>, Local, Tiles> trainer(exec, Sgd{.rate = 1},
                                                                         {.batch = 2});
  auto const x = images<Net, float>(2);
  fill(x, 5);
  x(1, 0, 1, 2) = NAN;
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> y("y", 2, 1);
  trainer.model().infer(exec, x, y);
  exec.fence("maximum");
  CHECK(std::isfinite(y(0, 0)));
  CHECK(std::isnan(y(1, 0)));
}

#endif
