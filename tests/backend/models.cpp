// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whole networks on the default device with the backends that it has, whichever they are: inference
// and one training step against the reference in float64, and no further off than the portable
// kernels on the host. On a GPU they take each kernel of backend/gpu: segments that are resident or
// come in stages, steps in one pass and stored ones, wide products and convolutions.

#include <phyllo/phyllo.hpp>

#include <phyllo/backend/reference/reference.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#include <cmath>
#include <limits>
#include <utility>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::DefaultHostExecutionSpace;
using Reference = Execution<Host, Backends<ReferenceBackend>>;
using Portable = Execution<Host, Backends<PortableBackend>>;
template <class T> using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Space>;
template <class T> using HostRows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

// clang-format off
struct Mlp : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<16>> {};
struct Odd : Network<Input<3>, Linear<19>, Sigmoid, Linear<33, Bias<false>>, GELU, Linear<5>> {};
struct Stages : Network<Input<100>, Linear<128>, Tanh, Repeat<5, Linear<128>, ReLU>, Linear<7>> {};
struct Wide : Network<Input<270>, Linear<300>, ReLU, Linear<260>, GELU, Linear<9>> {};
struct Images : Network<Input<2, 9, 7>, Conv2d<6, Padding<1>>, BatchNorm<>, ReLU, MaxPool2d<2>,
                        Residual<Conv2d<6, Padding<1>>, Tanh>, Flatten, Linear<4>> {};
// Extents that are multiples of 8, of which devices copy chunks of 16 bits.
struct Eights : Network<Input<8, 9, 7>, Conv2d<16, Padding<1>>, BatchNorm<>, ReLU,
                        Conv2d<72, Stride<2>, Padding<1>>, GELU, Residual<Conv2d<72, KernelSize<1>>, BatchNorm<>>, ReLU,
                        Flatten, Linear<136>, ReLU, Linear<8>> {};
// clang-format on

template <class V> auto on_host(V const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}
template <class From, class To> void copy(From const& from, To const& to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    to.data()[i] = typename To::non_const_value_type(double(from.data()[i]));
}
template <class A, class B> double error(A const& expected, B const& got) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = double(expected.data()[i]), d = double(got.data()[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  CHECK(norm > 0);
  return std::sqrt(difference / norm);
}
// Beside twice the portable kernels' error: sums in another order.
template <class S> constexpr double allowed = 16 * double(S::epsilon);
template <> constexpr double allowed<float> = 16 * double(std::numeric_limits<float>::epsilon());

// The same numbers for the device, the host, and the reference.
template <class Net, class P> struct Samples {
  using S = typename P::storage;
  Rows<S> x;
  HostRows<S> x_host;
  HostRows<double> x_wide;

  explicit Samples(int batch)
      : x("x", std::size_t(batch), std::size_t(Net::input.size())),
        x_host("x", x.extent(0), x.extent(1)),
        x_wide("x", x.extent(0), x.extent(1)) {
    for (std::size_t i = 0; i < x_host.size(); ++i)
      x_host.data()[i] = S(2 * random_uniform(5, 0, 0, i, 0) - 1);
    copy(x_host, x_wide);
    Kokkos::deep_copy(x, x_host);
  }
};

template <class Net, class P> void infer(int batch) {
  CAPTURE(batch);
  using S = typename P::storage;
  Space const exec;
  Host const host;
  Samples<Net, P> const samples(batch);
  Model<Net, P> const model(exec, {.batch = batch, .seed = 3});
  Model<Net, P, Portable> const portable(host, {.batch = batch, .seed = 3});
  Model<Net, Full<double>, Reference> const truth(host, {.batch = batch});
  exec.fence("models");
  host.fence("models");
  copy(on_host(model.parameters()), portable.parameters());
  copy(on_host(model.parameters()), truth.parameters());

  // A row before and one behind are nobody's.
  auto const outputs = std::size_t(Net::output.size()), count = std::size_t(batch);
  Rows<S> guarded("y", count + 2, outputs);
  Kokkos::deep_copy(guarded, S(std::nanf("")));
  auto const y =
      Kokkos::subview(guarded, std::pair<std::size_t, std::size_t>(1, count + 1), Kokkos::ALL);
  HostRows<S> of_portable("y", count, outputs);
  HostRows<double> expected("y", count, outputs);
  model.infer(exec, samples.x, y);
  exec.fence("models");
  portable.infer(host, samples.x_host, of_portable);
  truth.infer(host, samples.x_wide, expected);
  host.fence("models");
  auto const all = on_host(guarded);
  HostRows<S> got("y", count, outputs);
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t c = 0; c < outputs; ++c) got(n, c) = all(n + 1, c);
  CHECK(error(expected, got) <= 2 * error(expected, of_portable) + allowed<S>);
  for (std::size_t c = 0; c < outputs; ++c) {
    CHECK(std::isnan(float(all(0, c))));
    CHECK(std::isnan(float(all(count + 1, c))));
  }
}

template <class T, class Visit> void for_parameters(Visit const& visit) {
  for (ParameterEntry const& entry : parameter_table<typename T::ModelType::network>())
    for (long i = 0; i < entry.size() && !entry.is_buffer; ++i)
      visit(std::size_t(entry.arena_index(i)));
}
// The gradients of the mean over the batch, without the scale of the loss. Between parameters,
// where the arena has gaps, nobody writes.
template <class T> auto gradients(T const& trainer) {
  auto const arena = on_host(trainer.model().gradients());
  double const scale = double(on_host(trainer.model().state())().loss_scale) *
                       double(arena(std::size_t(T::ModelType::nodes.arena_size)));
  Kokkos::View<double*, Kokkos::HostSpace> mean("gradients",
                                                std::size_t(T::ModelType::nodes.arena_size));
  for_parameters<T>([&](std::size_t i) { mean(i) = double(arena(i)) / scale; });
  return mean;
}
template <class T> void poison_gradients(T& trainer) {
  auto const arena = on_host(trainer.model().gradients());
  for_parameters<T>([&](std::size_t i) { arena(i) = std::nanf(""); });
  Kokkos::deep_copy(trainer.model().gradients(), arena);
}

template <class Net, class P> void train(int batch) {
  CAPTURE(batch);
  using S = typename P::storage;
  using L = MeanSquaredError;
  Space const exec;
  Host const host;
  Sgd const still{.rate = 0};
  Samples<Net, P> const samples(batch);
  Rows<float> const targets("targets", std::size_t(batch), std::size_t(Net::output.size()));
  auto const targets_host = Kokkos::create_mirror_view(targets);
  for (std::size_t i = 0; i < targets_host.size(); ++i)
    targets_host.data()[i] = random_uniform(6, 0, 0, i, 0);
  Kokkos::deep_copy(targets, targets_host);

  OptimizerOptions const options{.scaling = {.initial = 256}};  // none overflows half precision
  Trainer<Net, L, Sgd, P> trainer(exec, still, {.batch = batch, .seed = 3}, options);
  Trainer<Net, L, Sgd, P, Local, Portable> portable(host, still, {.batch = batch, .seed = 3},
                                                    options);
  Trainer<Net, L, Sgd, Full<double>, Local, Reference> truth(host, still, {.batch = batch});
  exec.fence("models");
  host.fence("models");
  copy(on_host(trainer.model().parameters()), portable.model().parameters());
  copy(on_host(trainer.model().parameters()), truth.model().parameters());
  poison_gradients(trainer);
  trainer.step(samples.x, targets);
  portable.step(samples.x_host, targets_host);
  truth.step(samples.x_wide, targets_host);
  exec.fence("models");
  host.fence("models");
  auto const expected = gradients(truth);
  CHECK(error(expected, gradients(trainer)) <=
        2 * error(expected, gradients(portable)) + allowed<S>);
  CHECK(std::abs(trainer.loss() - truth.loss()) <=
        truth.loss() * (2 * std::abs(portable.loss() / truth.loss() - 1) + allowed<S>));
}

template <class Net, class P> void compare() {
  for (int const batch : {1, 37, 300}) {
    infer<Net, P>(batch);
    train<Net, P>(batch);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("networks on the default device, in float", Net, Mlp, Odd,
                   Images PHYLLO_IN_VERIFY(, Stages, Wide)) {
  compare<Net, Full<float>>();
}
TEST_CASE_TEMPLATE("networks on the default device, in bfloat16", Net,
                   Stages PHYLLO_IN_VERIFY(, Images, Mlp, Odd, Wide, Eights)) {
  compare<Net, Mixed<bf16, float>>();
}
TEST_CASE_TEMPLATE("networks on the default device, in half precision", Net,
                   Mlp PHYLLO_IN_VERIFY(, Odd, Stages, Wide, Images, Eights)) {
  compare<Net, Mixed<fp16, float>>();
}
