// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops of the portable backend against the reference over odd shapes, with poisoned outputs and
// guarded buffers.

#include <phyllo/backend/portable/portable.hpp>
#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/policy/precision.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;
using HostSpace = Kokkos::DefaultHostExecutionSpace;

// Where a work reads and writes: the reference on the host, the other backend on the device. Where
// the host is the device, it is the same memory.
enum class Side { host, device };

// Numbers between two guards that nothing may touch.
template <class T> class Guarded {
 public:
  Guarded(long size, float fill) : device_("numbers", std::size_t(size) + 2 * guard) {
    Kokkos::deep_copy(host_, T(fill));
    for (std::size_t i = 0; i < guard; ++i) host_(i) = host_(last() - i) = T(77.0f);
  }
  T* on(Side side) const { return (side == Side::host ? host_.data() : device_.data()) + guard; }
  T& operator()(long i) const { return on(Side::host)[i]; }
  Guarded const& to_device() const {
    Kokkos::deep_copy(device_, host_);
    return *this;
  }
  void to_host() const { Kokkos::deep_copy(host_, device_); }
  bool intact() const {
    for (std::size_t i = 0; i < guard; ++i)
      if (double(float(host_(i))) != 77.0 || double(float(host_(last() - i))) != 77.0) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 16;
  std::size_t last() const { return host_.extent(0) - 1; }

  Kokkos::View<T*, Space> device_;
  Kokkos::View<T*, Kokkos::HostSpace> host_ =
      Kokkos::create_mirror_view(Kokkos::HostSpace{}, device_);
};

template <class T> Guarded<T> random_numbers(long size, std::uint64_t seed) {
  Guarded<T> v(size, 0);
  for (long i = 0; i < size; ++i) v(i) = T(2 * random_uniform(seed, 0, 0, std::uint64_t(i), 0) - 1);
  return v.to_device();
}

constexpr float poison = std::numeric_limits<float>::quiet_NaN();

// Runs the same work on both backends with outputs of their own: `work(side, out)` makes it.
template <class Op, class P, class T, class Work>
void compare(long size, bool accumulate, double bound, Work const& work) {
  auto const fresh = [&] {
    return accumulate ? random_numbers<T>(size, 99) : Guarded<T>(size, poison).to_device();
  };
  Guarded<T> const expected = fresh(), got = fresh();
  reference::Kernels<Op, P>::run(HostSpace{}, "reference",
                                 work(Side::host, expected.on(Side::host)));
  Space const exec;
  portable::Kernels<Op, P>::run(exec, "portable", work(Side::device, got.on(Side::device)));
  exec.fence();
  got.to_host();
  double difference = 0, norm = 0;
  for (long i = 0; i < size; ++i) {
    double const e = double(expected(i)), g = double(got(i));
    REQUIRE(std::isfinite(e));
    difference += (e - g) * (e - g);
    norm += e * e;
  }
  CHECK(std::sqrt(difference) <= bound * std::sqrt(norm) + 1e-30);
  CHECK(expected.intact());
  CHECK(got.intact());
}

template <class P> constexpr double bound_of() {
  if (std::is_same_v<P, Full<double>>) return 1e-13;
  if (std::is_same_v<P, Full<float>>) return 2e-6;
  if (std::is_same_v<P, Mixed<fp16, float>>) return 2e-3;
  return 1e-2;  // one rounding to eight bits either way
}

template <class Chain, class P>
void contraction(int batch, Shape input, int outputs, Window window) {
  using Op = op::Contraction<Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  Shape const output = window.output(input, outputs);
  long const weights = long(window.taps()) * input.channels * outputs;
  auto const x = random_numbers<S>(long(batch) * input.size(), 1);
  auto const weight = random_numbers<S>(weights, 2), bias = random_numbers<S>(outputs, 3);
  auto const d_z = random_numbers<S>(long(batch) * output.size(), 4);
  INFO("batch ", batch, " channels ", input.channels, " outputs ", outputs, " spatial ",
       input.spatial[0], " ", input.spatial[1], " ", input.spatial[2], " window ", window.size[0],
       " ", window.size[1], " ", window.size[2], " stride ", window.stride[2], " padding ",
       window.padding[2]);
  compare<Op, P, S>(long(batch) * output.size(), false, bound_of<P>(), [&](Side side, S* out) {
    typename Op::template Forward<P> forward;
    forward.batch = batch;
    forward.input = input;
    forward.output = output;
    forward.window = window;
    forward.x = x.on(side);
    forward.weight = weight.on(side);
    forward.bias = batch % 2 == 0 ? bias.on(side) : nullptr;
    forward.y = out;
    return forward;
  });
  for (bool const accumulate : {false, true})
    compare<Op, P, S>(
        long(batch) * input.size(), accumulate, bound_of<P>(), [&](Side side, S* out) {
          return typename Op::template BackwardInput<P>{
              batch, input, output, window, d_z.on(side), weight.on(side), out, accumulate};
        });
  compare<Op, P, A>(weights + outputs, false, bound_of<P>(), [&](Side side, A* out) {
    return typename Op::template BackwardParameters<P>{
        batch, input, output, window, x.on(side), d_z.on(side), out, out + weights};
  });
}

template <op::PoolingKind Kind, class P> void pooling(int batch, Shape input, Window window) {
  using Op = op::Pooling<Kind>;
  using S = typename P::storage;
  Shape const output = window.output(input, input.channels);
  auto const x = random_numbers<S>(long(batch) * input.size(), 1);
  auto const d_y = random_numbers<S>(long(batch) * output.size(), 4);
  compare<Op, P, S>(long(batch) * output.size(), false, bound_of<P>(), [&](Side side, S* out) {
    return typename Op::template Forward<P>{batch, input, output, window, x.on(side), out};
  });
  for (bool const accumulate : {false, true})
    compare<Op, P, S>(
        long(batch) * input.size(), accumulate, bound_of<P>(), [&](Side side, S* out) {
          return typename Op::template Backward<P>{batch,      input,        output, window,
                                                   x.on(side), d_y.on(side), out,    accumulate};
        });
}

// Sizes at and around the blocks of registers and vectors; each pair of values of two dimensions
// meets: the dimensions are digits of a row of an orthogonal array of strength two over 11 symbols.
constexpr int sizes[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33};
template <class Visit> void pairwise(Visit const& visit) {
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < 11; ++j)
      visit(sizes[i], sizes[j], sizes[(i + j) % 11], sizes[(i + 2 * j) % 11], i + 3 * j);
}

}  // namespace

TEST_CASE_TEMPLATE("sweep: linear contractions", P, Full<double>, Full<float>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Mixed<fp16, float>)) {
  pairwise([](int batch, int channels, int outputs, int, int) {
    contraction<op::Chain<ReLU>, P>(batch, Shape{channels}, outputs, {});
  });
}

TEST_CASE_TEMPLATE("sweep: convolutions", P, Full<double>, Mixed<bf16, float>) {
  pairwise([](int batch, int channels, int outputs, int extent, int pick) {
    Window w;
    for (int d = 1; d < 3; ++d) {
      w.size[d] = 1 + (pick + d) % 3;
      w.stride[d] = 1 + (pick / 3 + d) % 2;
      w.padding[d] = pick % w.size[d];
    }
    int const height = 1 + extent % 7 + 2, width = extent % 9 + 3;
    contraction<op::Chain<Tanh>, P>(batch % 5, Shape{channels, height, width}, outputs, w);
  });
  Window volume;
  for (int d = 0; d < 3; ++d)
    volume.size[d] = 2, volume.padding[d] = 1, volume.stride[d] = 1 + d % 2;
  contraction<op::Chain<GELU>, P>(2, Shape{3, 3, 4, 5}, 17, volume);
  contraction<op::Chain<>, P>(0, Shape{3, 4, 5}, 4, {});
  Window signal;
  signal.size[2] = 5, signal.padding[2] = 2, signal.stride[2] = 3;
  contraction<op::Chain<GELU, Tanh>, P>(3, Shape{2, 31}, 9, signal);
}

TEST_CASE_TEMPLATE("sweep: pooling", P, Full<double>, Full<float>, Mixed<fp16, float>) {
  pairwise([](int batch, int channels, int, int extent, int pick) {
    Window w;
    for (int d = 1; d < 3; ++d) {
      w.size[d] = 1 + (pick + d) % 3;
      w.stride[d] = 1 + (pick / 3 + d) % 3;
      w.padding[d] = (pick % 2) * (w.size[d] / 2);
    }
    Shape const input{channels, extent % 5 + 3, extent % 7 + 3};
    pooling<op::PoolingKind::maximum, P>(batch % 4, input, w);
    pooling<op::PoolingKind::average, P>(batch % 4, input, w);
  });
}

TEST_CASE("reference: values by hand") {
  using P = Full<double>;
  HostSpace const exec;
  SUBCASE("a 3x3 convolution with padding") {
    double const x[4] = {1, 2, 3, 4};  // 2x2
    double const w[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bias[1] = {0.5};
    double y[4] = {};
    op::Contraction<op::Chain<>>::Forward<P> work;
    work.batch = 1;
    work.input = work.output = Shape{1, 2, 2};
    for (int d = 1; d < 3; ++d) work.window.size[d] = 3, work.window.padding[d] = 1;
    work.x = x;
    work.weight = w;
    work.bias = bias;
    work.y = y;
    reference::Kernels<op::Contraction<op::Chain<>>, P>::run(exec, "", work);
    // The output at (0, 0) sees x at taps (1, 1), (1, 2), (2, 1), (2, 2): 5 + 12 + 24 + 36.
    CHECK(y[0] == 77.5);
    CHECK(y[1] == 0.5 + 4 * 1 + 5 * 2 + 7 * 3 + 8 * 4);
    CHECK(y[2] == 0.5 + 2 * 1 + 3 * 2 + 5 * 3 + 6 * 4);
    CHECK(y[3] == 0.5 + 1 * 1 + 2 * 2 + 4 * 3 + 5 * 4);
  }
  SUBCASE("softmax of 0 and ln 2") {
    double const x[2] = {0, std::log(2.0)};
    double y[2] = {};
    reference::Kernels<op::Softmax, P>::run(exec, "", op::Softmax::Forward<P>{1, 2, x, y});
    CHECK(y[0] == doctest::Approx(1.0 / 3));
    CHECK(y[1] == doctest::Approx(2.0 / 3));
  }
  SUBCASE("a maximum with padding ignores it") {
    double const x[4] = {-4, -3, -2, -1};
    double y[1] = {};
    Window w;
    for (int d = 1; d < 3; ++d) w.size[d] = 3, w.stride[d] = 3, w.padding[d] = 1;
    op::Pooling<op::PoolingKind::maximum>::Forward<P> work{1, Shape{1, 2, 2}, Shape{1, 1, 1}, w, x,
                                                           y};
    reference::Kernels<op::Pooling<op::PoolingKind::maximum>, P>::run(exec, "", work);
    CHECK(y[0] == -1);
    op::Pooling<op::PoolingKind::average>::Forward<P> mean{1, Shape{1, 2, 2}, Shape{1, 1, 1}, w, x,
                                                           y};
    reference::Kernels<op::Pooling<op::PoolingKind::average>, P>::run(exec, "", mean);
    CHECK(y[0] == doctest::Approx(-10.0 / 9));  // padding counts
  }
}
