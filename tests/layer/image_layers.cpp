// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Interpolation: torch's formulas along one axis, values by hand, the adjoint, all backends.
// Poolings and response normalisation: values by hand. Fused convolutions of batches that do not
// fill vectors.

#include <finite_difference.hpp>
#include <fusion/boundaries.hpp>
#include <phyllo/backend/host/resample.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Numbers = std::vector<double>;

// Written after torch's documentation, in floating point: weights of all numbers in result o.
Numbers weights(int from, int to, bool cubic, bool corners, int o) {
  double place =
      corners ? (to > 1 ? double(o) * (from - 1) / (to - 1) : 0) : (o + 0.5) * from / to - 0.5;
  if (!cubic && place < 0) place = 0;
  double const below = std::floor(place + 1e-12), t = place - below;
  Numbers w(static_cast<std::size_t>(from));
  auto const add = [&](double at, double weight) {
    w[std::size_t(std::fmin(std::fmax(at, 0), from - 1))] += weight;
  };
  if (!cubic) {
    add(below, 1 - t);
    add(below + 1, t);
    return w;
  }
  double const a = -0.75;
  auto const inside = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto const outside = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  add(below - 1, outside(t + 1));
  add(below, inside(t));
  add(below + 1, inside(1 - t));
  add(below + 2, outside(2 - t));
  return w;
}

template <class Net> Numbers inferred(Numbers const& given) {
  Space const exec;
  Model<Net, Full<double>> model(exec, {.batch = 1});
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", 1, given.size()),
      y("y", 1, Net::output.size());
  for (std::size_t i = 0; i < given.size(); ++i) x(0, i) = given[i];
  auto const x_there = Kokkos::create_mirror_view_and_copy(exec, x);
  auto const y_there = Kokkos::create_mirror_view(exec, y);
  model.infer(exec, x_there, y_there);
  Kokkos::deep_copy(y, y_there);
  return Numbers(y.data(), y.data() + y.size());
}

// An op on all of its numbers: y = x for each of the backends; then the gradient.
template <class Backend, class Work, class S> void run(op::Resample, Work& work) {
  Space const exec;
  Backend::template kernels<op::Resample, Full<S>>::run(exec, "resample", work);
  exec.fence("resample");
}

template <class Backend, class S>
std::vector<S> forward(ResampleAxes const& axes, int channels, std::vector<S> const& x, int batch) {
  std::vector<S> y(std::size_t(batch * axes.positions() * channels));
  op::Resample::Forward<Full<S>> work{batch, channels, axes, x.data(), y.data()};
  run<Backend, op::Resample::Forward<Full<S>>, S>({}, work);
  return y;
}
template <class Backend, class S>
std::vector<S> backward(ResampleAxes const& axes, int channels, std::vector<S> const& d_y,
                        std::vector<S> d_x, int batch, bool adds) {
  op::Resample::Backward<Full<S>> work{batch, channels, axes, d_y.data(), d_x.data(), adds};
  run<Backend, op::Resample::Backward<Full<S>>, S>({}, work);
  return d_x;
}

struct HostKernels {
  template <class Op, class P> using kernels = host::Kernels<Op, P>;
};

// Minus infinity at zero.
struct Logarithm : Pointwise {
  static constexpr char const* name = "logarithm";
  template <class T> KOKKOS_FUNCTION static T value(T x) { return Kokkos::log(Kokkos::fabs(x)); }
  template <class T> KOKKOS_FUNCTION static T derivative(T x) {
    return x == T(0) ? T(0) : T(1) / x;
  }
};
// clang-format off
struct Rooted : Network<Input<1, 4>, Conv1d<1, KernelSize<1>>, LpPool1d<3, 2>, Flatten, Linear<1>> {};
struct Logarithms : Network<Input<1, 5>, Conv1d<2, KernelSize<2>, Bias<false>>, Logarithm, Conv1d<2, KernelSize<2>>, Flatten, Linear<1>> {};
// clang-format on

// All parameters are one, biases -0.5: LpPool of a sample of zeros would take the root of a
// negative number.
template <class Net, FusionLevel Level> std::vector<float> gradients(int batch) {
  Space const exec;
  Model<Net, Full<float>, Execution<Space, Execution<Space>::backends, Level>> model(
      exec, {.batch = batch});
  auto const parameters = Kokkos::create_mirror_view(Kokkos::HostSpace{}, model.parameters());
  for (auto const& entry : parameter_table<Net>())
    for (long i = 0; i < entry.size(); ++i)
      parameters(entry.arena_index(i)) = std::string(entry.name).ends_with("bias") ? -0.5f : 1.0f;
  Kokkos::deep_copy(model.parameters(), parameters);
  model.weights_changed(exec);
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", batch,
                                                                        Net::input.size());
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = 1 + float(i % 7);
  Kokkos::View<float**, Kokkos::LayoutRight> const y("y", batch, 1);
  auto const there = Kokkos::create_mirror_view_and_copy(exec, x);
  model.forward(exec, there, y);
  Kokkos::deep_copy(exec, y, 1.0f);
  model.backward(exec, y);
  auto const d = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, model.gradients());
  exec.fence();
  return {d.data(), d.data() + Net::program::nodes.arena_size};
}
template <class Net> void check_lanes() {
  for (int batch : {1, 3, 8, 17}) {
    CAPTURE(batch);
    auto const fused = gradients<Net, FusionLevel::tile>(batch);
    auto const apart = gradients<Net, FusionLevel::none>(batch);
    for (std::size_t i = 0; i < apart.size(); ++i)
      CHECK(fused[i] == doctest::Approx(apart[i]).epsilon(1e-5));
  }
}

void check(ResampleAxes const& axes, int channels) {
  CAPTURE(channels);
  constexpr int batch = 2;
  auto const draw = [&](int count, unsigned stream) {
    Numbers v(std::size_t(batch * count * channels));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = random_uniform(stream, 0, 0, i, 0) - 0.5;
    return v;
  };
  Numbers const x = draw(axes.source_positions(), 1), d_y = draw(axes.positions(), 2);
  Numbers const y = forward<ReferenceBackend>(axes, channels, x, batch);
  Numbers const d_x = backward<ReferenceBackend>(axes, channels, d_y, x, batch, true);
  CHECK(relative_error(y, forward<PortableBackend>(axes, channels, x, batch)) < 1e-14);
  CHECK(relative_error(y, forward<HostKernels>(axes, channels, x, batch)) < 1e-14);
  CHECK(relative_error(d_x, backward<PortableBackend>(axes, channels, d_y, x, batch, true)) <
        1e-14);
  CHECK(relative_error(d_x, backward<HostKernels>(axes, channels, d_y, x, batch, true)) < 1e-14);
  // <y(x), d_y> = <x, d_x(d_y)>: the adjoint, whatever the formula.
  Numbers const alone = backward<HostKernels>(axes, channels, d_y, Numbers(x.size()), batch, false);
  double of_results = 0, of_inputs = 0, size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) of_results += y[i] * d_y[i];
  for (std::size_t i = 0; i < x.size(); ++i) {
    of_inputs += x[i] * alone[i];
    size += std::abs(x[i] * alone[i]);
  }
  CHECK(std::abs(of_results - of_inputs) <= 1e-13 * size);
}

}  // namespace

TEST_CASE("interpolation: the weights of an axis are torch's, and their readers are all of them") {
  for (int from : {1, 2, 3, 5, 8, 13})
    for (int to : {1, 2, 3, 4, 7, 10, 16, 39})
      for (int kind = 0; kind < 4; ++kind) {
        bool const cubic = kind % 2 == 1, corners = kind >= 2;
        auto const axis = ResampleAxis::between(from, to, cubic ? 4 : 2, corners);
        CAPTURE(from);
        CAPTURE(to);
        CAPTURE(kind);
        for (int o = 0; o < to; ++o) {
          Numbers const expected = weights(from, to, cubic, corners, o);
          for (int s = 0; s < from; ++s) {
            double const weight = axis.weight_of<double>(s, o);
            REQUIRE(std::abs(weight - expected[std::size_t(s)]) < 1e-11);
            bool const reads = o >= axis.first_reader(s) && o < axis.last_reader(s);
            REQUIRE((weight == 0 || reads));
          }
        }
      }
}

TEST_CASE("interpolation: long axes keep exact places") {
  auto const axis = ResampleAxis::between(100000, 300000, 2, false);
  ResamplePoint<double> const p = axis.point<double>(299999);
  CHECK(p.first == 99999);
  CHECK(p.fraction == doctest::Approx(1.0 / 3).epsilon(1e-15));
  CHECK(axis.first_reader(99999) <= 299996);
}

TEST_CASE("interpolation: values by hand") {
  CHECK(inferred<Network<Input<1, 2>, Upsample<2, LinearInterpolation>>>({1, 5}) ==
        Numbers{1, 2, 4, 5});
  CHECK(inferred<Network<Input<1, 3>, Resize<OutputSize<5>, AlignCorners>>>({1, 3, 7}) ==
        Numbers{1, 2, 3, 5, 7});
  CHECK(inferred<Network<Input<1, 2, 2>, Resize<OutputSize<1, 3>>>>({1, 3, 5, 7}) ==
        Numbers{3, 4, 5});
  // 3/4 of the way from 2 to 3: weights -9, 67, 225, -27 of 256, as the formula says for a = -3/4.
  Numbers const line =
      inferred<Network<Input<1, 1, 8>, Resize<OutputSize<1, 16>, CubicInterpolation>>>(
          {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(line[6] == doctest::Approx((-9 * 1 + 67 * 2 + 225 * 3 - 27 * 4) / 256.0).epsilon(1e-14));
  static_assert(Network<Input<3, 4, 5>, Upsample<1, LinearInterpolation>, ReLU>::output ==
                Shape(3, 4, 5));
}

TEST_CASE("interpolation: kernels of all backends agree, and the gradient is the adjoint") {
  auto const axes = [](int taps, bool corners, std::array<int, 6> e) {
    ResampleAxes a;
    for (std::size_t d = 0; d < 3; ++d)
      a.axis[d] = ResampleAxis::between(e[2 * d], e[2 * d + 1], taps, corners);
    return a;
  };
  for (int channels : {1, 3, 5, 64, 70}) {
    check(axes(2, false, {1, 1, 3, 6, 4, 8}), channels);
    check(axes(4, false, {1, 1, 4, 5, 6, 3}), channels);
    check(axes(4, true, {1, 1, 2, 7, 3, 3}), channels);
  }
  check(axes(2, false, {2, 3, 2, 4, 3, 2}), 2);
  check(axes(2, false, {1, 1, 2, 19, 20, 33}), 300);  // two blocks of channels, three of rows
  check(axes(2, false, {1, 1, 1, 1, 300, 700}), 17);  // several parts of a line
  check(axes(2, true, {1, 1, 1, 2, 2, 300}), 64);     // fewer channels at a time
  // Rows and planes that no result reads.
  check(axes(2, false, {1, 1, 16, 5, 16, 7}), 2);
  check(axes(4, false, {1, 1, 20, 3, 6, 6}), 3);
  check(axes(2, true, {20, 4, 9, 2, 3, 3}), 1);
  check(axes(4, false, {1, 1, 1, 1, 2, 5000}), 1);  // more readers than a line holds
  check(axes(2, false, {1, 1, 2, 1, 9000, 3}), 1);
}

TEST_CASE("fused convolutions: lanes without a sample reach no gradient") {
  check_lanes<Rooted>();
  check_lanes<Logarithms>();
}

TEST_CASE("poolings: one more window, and what a mean divides by") {
  Numbers const x{1, 2, 4, 8, 16, 32};
  CHECK(inferred<Network<Input<1, 6>, MaxPool1d<3, Stride<2>, CeilMode>>>(x) == Numbers{4, 16, 32});
  CHECK(inferred<Network<Input<1, 6>, AveragePool1d<4, Stride<4>, CeilMode>>>(x) ==
        Numbers{15.0 / 4, 24});
  // Windows of 3 from -1, 1, 3 and 5: the last one reaches one beyond the padding.
  using Padded = AveragePool1d<3, Stride<2>, Padding<1>, CeilMode>;
  CHECK(inferred<Network<Input<1, 6>, Padded>>(x) ==
        Numbers{3.0 / 3, 14.0 / 3, 56.0 / 3, 32.0 / 2});
  using Uncounted = AveragePool1d<3, Stride<2>, Padding<1>, CountPadding<false>>;
  CHECK(inferred<Network<Input<1, 6>, Uncounted>>(x) == Numbers{3.0 / 2, 14.0 / 3, 56.0 / 3});
  // A window that would begin in the padding after the input is left out.
  static_assert(Network<Input<1, 4>, MaxPool1d<2, Stride<4>, Padding<1>, CeilMode>>::output ==
                Shape(1, 2));
  static_assert(Network<Input<1, 3>, MaxPool1d<2, Stride<4>, Padding<1>, CeilMode>>::output ==
                Shape(1, 1));
  static_assert(Network<Input<1, 2>, MaxPool1d<3, Stride<2>, CeilMode>>::output == Shape(1, 1));
  CHECK(inferred<Network<Input<1, 6>, LpPool1d<2, 2>>>({3, 4, -5, 12, 0, 0}) == Numbers{5, 13, 0});
  CHECK(inferred<Network<Input<1, 4>, LpPool1d<1, 2>>>({3, 4, -5, 12}) == Numbers{7, 7});
}

TEST_CASE("response normalisation: kernels of all backends agree on wide rows") {
  using Op = op::LocalResponse;
  using P = Full<double>;
  for (int size : {1, 2, 7, 64, 65})
    for (double beta : {0.75, 0.5}) {
      CAPTURE(size);
      constexpr long rows = 3;
      constexpr int channels = 600;
      op::ResponseWindow<double> const window{channels, size, 0.5, beta, 1.5};
      Numbers x(rows * channels), d_y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = random_uniform(1, 0, 0, i, 0) - 0.5;
        d_y[i] = random_uniform(2, 0, 0, i, 0) - 0.5;
      }
      auto const results = [&]<class Backend>(Backend) {
        using Kernels = typename Backend::template kernels<Op, P>;
        Space const exec;
        Numbers all(2 * x.size(), 1.0);
        Kernels::run(exec, "response", Op::Forward<P>{rows, window, x.data(), all.data()});
        Kernels::run(
            exec, "response",
            Op::Backward<P>{rows, window, x.data(), d_y.data(), all.data() + x.size(), true});
        exec.fence("response");
        return all;
      };
      Numbers const expected = results(ReferenceBackend{});
      CHECK(relative_error(expected, results(PortableBackend{})) < 1e-14);
      CHECK(relative_error(expected, results(HostKernels{})) < 1e-14);
    }
}

TEST_CASE("response normalisation: channels around, those before first") {
  // size 2: the channel before and itself; (1 + 4 / 2 * sum)^-0.5
  Numbers const y = inferred<Network<Input<3>, LocalResponseNorm<2, 4.0, 0.5>>>({1, 2, 3});
  double const expected[] = {1 / std::sqrt(3.0), 2 / std::sqrt(11.0), 3 / std::sqrt(27.0)};
  for (std::size_t c = 0; c < 3; ++c) CHECK(y[c] == doctest::Approx(expected[c]).epsilon(1e-14));
  Numbers const wide = inferred<Network<Input<3>, LocalResponseNorm<5, 5.0>>>({1, 2, 3});
  CHECK(wide[1] == doctest::Approx(2 * std::pow(15.0, -0.75)).epsilon(1e-14));
}
