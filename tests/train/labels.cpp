// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Class indices outside of their range: the step is skipped, and loss() and evaluate() say which
// loss, which range, how many and one of them, on every backend.

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>
#include <sentence_of.hpp>
#include <train/kept_state.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace phyllo;
using test::kept_of, test::sentence_of;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
constexpr int batch = 19;

struct Narrow : Network<Input<12>, Linear<16>, ReLU, Linear<3>> {};  // a whole step
struct Images
    : Network<Input<3, 2, 2>, Conv2d<5, Padding<1>>, BatchNorm<>, ReLU, Flatten, Linear<3>> {};
struct Pixels : Network<Input<3, 2, 2>, Conv2d<5, KernelSize<1>>, Tanh, Conv2d<3, KernelSize<1>>> {
};
struct Long : Network<Input<12>, Linear<8>, Tanh, Linear<130>> {};

struct GpuOnHost {
  using Device = test::HostDevice<test::EmulatedMfma>;
  template <class P>
  static constexpr SegmentLimits segment_limits_in = gpu::segment_limits<Device, P>("gpu on host");
  template <class Op, class P> using kernels = gpu::Kernels<Device, Op, P>;
};
template <class... B> using On1 = Execution<Space, Backends<B...>>;
using Gpu = Execution<Space, Backends<GpuOnHost, PortableBackend>, FusionLevel::segment>;

std::string expected(char const* network, int classes, int count, std::string const& one) {
  return std::string(network) + ", loss cross_entropy: expected class indices from 0 to " +
         std::to_string(classes - 1) + ", got " + std::to_string(count) +
         " outside of them, such as " + one +
         ". Steps with them were skipped; values of the loss with them are not defined. Number "
         "classes from 0, and leave out samples without a class.";
}

// `label(n, p)` is the class index of position p of sample n.
template <class Net, class P, class Exec, class Labels>
void check(char const* name, int classes, Labels const& labels, std::string const& where) {
  CAPTURE(name);
  Space const exec;
  Trainer<Net, CrossEntropy, Adam, P, Local, Exec> trainer(exec, Adam{}, {.batch = batch});
  Matrix x("x", batch, 12);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.4 + 1.9 * double(i));
  for (std::size_t i = 0; i < labels.size(); ++i) labels.data()[i] = int(i) % classes;
  trainer.step(x, labels);
  CHECK(std::isfinite(trainer.loss()));
  for (int const bad : {-1, classes, 1 << 30}) {
    auto const before = kept_of(trainer);
    float const scale = trainer.model().state()().loss_scale;
    int* const label = labels.data() + labels.size() / 2;
    int const good = *label;
    *label = bad;
    trainer.step(x, labels);
    CHECK(kept_of(trainer) == before);
    CHECK(trainer.model().state()().loss_scale == scale);
    *label = good;
    trainer.step(x, labels);  // counts, and the next sentence speaks of the one before
    CHECK(kept_of(trainer) != before);
    auto const sentence = expected(name, classes, 1, std::to_string(bad) + where);
    CHECK(sentence_of([&] { trainer.loss(); }) == sentence);
    CHECK(std::isfinite(trainer.loss()));
    *label = bad;
    CHECK(sentence_of([&] { trainer.evaluate(x, labels); }) == sentence);
    *label = good;
    CHECK(std::isfinite(trainer.evaluate(x, labels).loss));
  }
  // Steps whose sentence nobody asked for are in that of evaluate.
  int& last = labels.data()[labels.size() - 1];
  last = -7;
  trainer.step(x, labels);
  trainer.step(x, labels);
  last = 0;
  CHECK(sentence_of([&] { trainer.evaluate(x, labels); }).find("got 2 outside") !=
        std::string::npos);
  CHECK(std::isfinite(trainer.evaluate(x, labels).loss));
}

template <class Exec> void check_networks() {
  Kokkos::View<int*, Kokkos::HostSpace> label("labels", batch);
  check<Narrow, Full<float>, Exec>("Narrow", 3, label, " for sample 9");
  check<Images, Mixed<fp16, float>, Exec>("Images", 3, label, " for sample 9");
  Kokkos::View<int***, Kokkos::LayoutRight, Kokkos::HostSpace> of_pixel("labels", batch, 2, 2);
  check<Pixels, Full<double>, Exec>("Pixels", 3, of_pixel, " for sample 9, position 2");
}

}  // namespace

TEST_CASE("labels out of range: skipped and told, by default") {
  check_networks<Execution<Space>>();
  Kokkos::View<int*, Kokkos::HostSpace> label("labels", batch);
  check<Long, Full<float>, Execution<Space>>("Long", 130, label, " for sample 9");
  check<Narrow, Mixed<bf16, float>, Execution<Space>>("Narrow", 3, label, " for sample 9");
}

TEST_CASE("labels out of range: skipped and told by plain and portable loops") {
  Kokkos::View<int*, Kokkos::HostSpace> label("labels", batch);
  check<Narrow, Full<float>, On1<ReferenceBackend>>("Narrow", 3, label, " for sample 9");
  check<Narrow, Full<float>, On1<PortableBackend>>("Narrow", 3, label, " for sample 9");
#if defined(PHYLLO_ALL_CASES)
  check_networks<On1<ReferenceBackend>>();
  check_networks<On1<PortableBackend>>();
#endif
}

TEST_CASE("labels out of range: skipped and told by kernels of devices") {
  Kokkos::View<int*, Kokkos::HostSpace> label("labels", batch);
  check<Narrow, Full<float>, Gpu>("Narrow", 3, label, " for sample 9");
  check<Long, Full<float>, Gpu>("Long", 130, label, " for sample 9");
}

TEST_CASE("labels out of range: Reproducible, shard by shard and side by side") {
  using Exec =
      Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;
  Kokkos::View<int*, Kokkos::HostSpace> label("labels", batch);
  check<Narrow, Full<float>, Exec>("Narrow", 3, label, " for sample 9");
  check<Images, Full<float>, Exec>("Images", 3, label, " for sample 9");
}
