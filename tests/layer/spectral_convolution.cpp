// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Against the formula: the Fourier transform of all of the image at once, as torch.fft defines it.

#include <fusion/boundaries.hpp>

#include <complex>
#include <numbers>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Complex = std::complex<double>;

Complex turn(double turns) { return std::polar(1.0, 2 * std::numbers::pi * turns); }

// y of one sample (C', H, W) for x (C, H, W) and weight (C', C, 2 rows, columns): the inverse
// transform of real numbers takes the frequencies along W that are left out from their conjugates.
std::vector<double> convolve(std::vector<double> const& x, std::vector<Complex> const& weight,
                             int inputs, int outputs, int height, int width, int rows,
                             int columns) {
  std::vector<double> y(std::size_t(outputs * height * width));
  for (int r = 0; r < 2 * rows; ++r)
    for (int k = 0; k < columns; ++k) {
      int const f = r < rows ? r : r - 2 * rows;
      for (int o = 0; o < outputs; ++o) {
        Complex product = 0;
        for (int c = 0; c < inputs; ++c) {
          Complex spectrum = 0;
          for (int h = 0; h < height; ++h)
            for (int w = 0; w < width; ++w)
              spectrum += x[std::size_t((c * height + h) * width + w)] *
                          turn(-double(f * h) / height - double(k * w) / width);
          product +=
              weight[std::size_t(((o * inputs + c) * 2 * rows + r) * columns + k)] * spectrum;
        }
        double const times = k == 0 || 2 * k == width ? 1.0 : 2.0;
        for (int h = 0; h < height; ++h)
          for (int w = 0; w < width; ++w)
            y[std::size_t((o * height + h) * width + w)] +=
                times / (height * width) *
                (product * turn(double(f * h) / height + double(k * w) / width)).real();
      }
    }
  return y;
}

template <class Net, class Exec, int Height, int Width, int Rows, int Columns>
void compare_with_formula() {
  constexpr int inputs = Net::input.channels, outputs = Net::output.channels, batch = 3;
  static_assert(Net::output == Shape(outputs, Height, Width));
  Space const exec;
  Model<Net, Full<double>, Exec> model(exec, {.batch = batch, .seed = 5});
  auto const x = view_of<Kokkos::LayoutRight, 2>(Net::input, batch);
  auto const y = view_of<Kokkos::LayoutRight, 2>(Net::output, batch);
  fill(x, 1);
  model.infer(exec, x, y);
  exec.fence("inference");
  std::vector<Complex> weight(std::size_t(outputs * inputs * 2 * Rows * Columns));
  auto const entries = parameter_table<Net>();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].name == "0.weight");
  CHECK(entries[0].shape == std::vector<std::int64_t>{outputs, inputs, 2 * Rows, Columns, 2});
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] = {model.parameters()(entries[0].arena_index(long(2 * i))),
                 model.parameters()(entries[0].arena_index(long(2 * i + 1)))};
  for (int n = 0; n < batch; ++n) {
    std::size_t const size = x.size() / batch;
    std::vector<double> const sample(x.data() + std::size_t(n) * size,
                                     x.data() + std::size_t(n + 1) * size);
    auto const expected = convolve(sample, weight, inputs, outputs, Height, Width, Rows, Columns);
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(y.data()[std::size_t(n) * expected.size() + i] ==
            doctest::Approx(expected[i]).epsilon(1e-12).scale(1));
  }
}

}  // namespace

TEST_CASE("a spectral convolution is the product of the lowest frequencies") {
  struct Even : Network<Input<2, 6, 8>, SpectralConv2d<3, Modes<2, 3>>> {};
  struct Whole : Network<Input<1, 6, 8>, SpectralConv2d<2, Modes<3, 5>>> {};
  struct Odd : Network<Input<3, 5, 7>, SpectralConv2d<2, Modes<2, 4>>> {};
  compare_with_formula<Even, Fused, 6, 8, 2, 3>();
  compare_with_formula<Even, Plain, 6, 8, 2, 3>();
  compare_with_formula<Whole, Fused, 6, 8, 3, 5>();
  compare_with_formula<Odd, Fused, 5, 7, 2, 4>();
}

TEST_CASE("all frequencies with a weight of one are the identity") {
  struct Net : Network<Input<1, 6, 5, 8>, SpectralConv3d<1, Modes<3, 2, 5>>> {};
  struct Line : Network<Input<1, 9>, SpectralConv1d<1, Modes<5>>> {};
  auto const check = []<class N>(N, bool is_whole) {
    Space const exec;
    Model<N, Full<double>, Execution<Space>> model(exec, {.batch = 1});
    auto const weights = model.parameters();
    for (auto const& entry : parameter_table<N>())
      for (long i = 0; i < entry.size(); ++i) weights(entry.arena_index(i)) = double(i % 2 == 0);
    model.weights_changed(exec);
    auto const x = view_of<Kokkos::LayoutRight, N::input.rank>(N::input, 1);
    auto const y = view_of<Kokkos::LayoutRight, N::input.rank>(N::input, 1);
    fill(x, 2);
    model.infer(exec, x, y);
    exec.fence("inference");
    double const difference = test::difference(x, y, 0, int(x.size()));
    CHECK((difference < 1e-13) == is_whole);
  };
  check(Line{}, true);
  check(Net{}, false);  // along H only four of five
}

TEST_CASE("angles by rotation are those of the functions") {
  for (int const length : {1, 2, 7, 64, 1000})
    for (int const frequency : {0, 1, length / 2, -length / 3, length - 1}) {
      FourierAngles angles(frequency, length, -3);
      for (int i = -3; i < 40; ++i, angles.next()) {
        Complex const exact = turn(double(frequency) * i / length);
        CHECK(std::abs(Complex(angles.cosine, angles.sine) - exact) < 1e-13);
      }
    }
}
