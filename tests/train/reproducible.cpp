// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reproducible: the bits of training and inference do not depend on the number of threads, nor a
// sample's result on its place in the batch.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#if defined(KOKKOS_ENABLE_OPENMP)

#include <cstring>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::OpenMP;
using Backend = DefaultBackends<Space>::type;
template <class Bits> using Exec = Execution<Space, Backend, FusionLevel::tile, Bits>;

struct Perceptron : Network<Input<7>, Linear<33>, Tanh, Dropout<0.2>, Linear<16>, GELU, Linear<3>> {
};
struct Images : Network<Input<1, 9, 8>, Conv2d<5>, Tanh, MaxPool2d<2>, Conv2d<17, KernelSize<2>>,
                        GELU, Flatten, Linear<3>> {};
// Kernels layer by layer, and a segment that begins with a batch normalisation.
struct Layered : Network<Input<1, 6, 6>, Conv2d<4, Padding<1>>, BatchNorm<>, ReLU, MaxPool2d<2>,
                         Flatten, Linear<130>, Tanh, Linear<16>, BatchNorm<>, ReLU, Linear<3>> {};

template <class Net> auto inputs(int batch) {
  constexpr Shape s = Net::input;
  auto const n = std::size_t(batch);
  auto const x = [&] {
    if constexpr (s.rank == 0)
      return Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>("x", n,
                                                                           std::size_t(s.channels));
    else
      return Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace>(
          "x", n, std::size_t(s.channels), std::size_t(s.spatial[1]), std::size_t(s.spatial[2]));
  }();
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = float(2 * random_uniform(1, 0, 0, i, 0) - 1);
  return x;
}

template <class Net, class P, class Bits> std::vector<char> trained(int threads, int batch) {
  Space const exec(threads);
  REQUIRE(exec.concurrency() == threads);
  Trainer<Net, MeanSquaredError, Sgd, P, Local, Exec<Bits>> trainer(
      exec, Sgd{.rate = 0.05f, .momentum = 0.9f}, {.batch = batch, .seed = 2});
  auto const x = inputs<Net>(batch);
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> t("t", std::size_t(batch), 3);
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = float(i % 5) - 2;
  for (int step = 0; step < 3; ++step) trainer.step(x, t);
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> y("y", std::size_t(batch), 3);
  trainer.model().infer(exec, x, y);
  exec.fence("reproducible");
  auto const& p = trainer.model().master();
  std::vector<char> bits(sizeof(*p.data()) * p.size() + sizeof(float) * y.size());
  std::memcpy(bits.data(), p.data(), sizeof(*p.data()) * p.size());
  std::memcpy(bits.data() + sizeof(*p.data()) * p.size(), y.data(), sizeof(float) * y.size());
  return bits;
}

template <class Net, class P> void check_threads() {
  for (int const batch : {1, 5, 12, 100, 307}) {
    CAPTURE(batch);
    auto const alone = trained<Net, P, Reproducible<>>(1, batch);
    for (int const threads : {2, 3, 5})
      CHECK(trained<Net, P, Reproducible<>>(threads, batch) == alone);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("reproducible: any number of threads gives the same bits", P, Full<float>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<double>)) {
  check_threads<Perceptron, P>();
  check_threads<Images, P>();
  check_threads<Layered, P>();
}

TEST_CASE("reproducible: without it, the bits follow the threads") {
  CHECK(trained<Perceptron, Full<float>, Fastest>(1, 307) !=
        trained<Perceptron, Full<float>, Fastest>(3, 307));
}

TEST_CASE_TEMPLATE("reproducible: a sample's result does not depend on its place", P, Full<float>,
                   Mixed<bf16, float>) {
  constexpr int batch = 101;
  Space const exec;
  Model<Images, P, Exec<Reproducible<>>> model(exec, {.batch = batch, .seed = 4});
  auto const x = inputs<Images>(batch);
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> all("all", batch, 3),
      one("one", 1, 3);
  model.infer(exec, x, all);
  for (int n = 0; n < batch; ++n) {
    model.infer(
        exec,
        Kokkos::subview(x, std::pair<int, int>(n, n + 1), Kokkos::ALL, Kokkos::ALL, Kokkos::ALL),
        one);
    exec.fence("one sample");
    for (int c = 0; c < 3; ++c) CHECK(one(0, c) == all(n, c));
  }
}

// Wide layers have kernels of their own for a single row and for few.
TEST_CASE("reproducible: nor on the size of its batch, with wide layers") {
  struct Wide : Network<Input<200>, Linear<300>, ReLU, Linear<150>> {};
  constexpr int batch = 40;
  Space const exec;
  Model<Wide, Full<float>, Exec<Reproducible<>>> model(exec, {.batch = batch, .seed = 4});
  auto const x = inputs<Wide>(batch);
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Rows const all("all", batch, 150), some("some", batch, 150);
  model.infer(exec, x, all);
  for (int const count : {1, 2, 16, 17}) {
    std::pair<int, int> const first(0, count);
    model.infer(exec, Kokkos::subview(x, first, Kokkos::ALL),
                Kokkos::subview(some, first, Kokkos::ALL));
    exec.fence("some samples");
    bool same = true;
    for (int n = 0; n < count; ++n)
      for (int c = 0; c < 150; ++c) same = same && some(n, c) == all(n, c);
    CHECK(same);
  }
}

#endif
