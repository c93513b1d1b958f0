// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

#include <phyllo/backend/reference/reference.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

/// Whole networks on the default device with the backends that it has, whichever they are:
/// inference and one training step against the reference in float64, and no further off than the
/// portable kernels on the host.
namespace phyllo::test {

using Space = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::DefaultHostExecutionSpace;
using Reference = Execution<Host, Backends<ReferenceBackend>>;
using Portable = Execution<Host, Backends<PortableBackend>>;
template <class T> using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Space>;
template <class T> using HostRows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

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

/// The same numbers for the device, the host, and the reference.
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

/// Numbers, or class indices of each position of a plane, of which a loss may ignore some.
template <class Net, class L, class To> auto targets_of(int batch) {
  constexpr Shape s = Net::output;
  auto const n = std::size_t(batch);
  if constexpr (!L::classes) {
    Kokkos::View<float**, Kokkos::LayoutRight, To> t("targets", n, std::size_t(s.size()));
    auto const host = Kokkos::create_mirror_view(t);
    for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] = random_uniform(6, 0, 0, i, 0);
    Kokkos::deep_copy(t, host);
    return t;
  } else {
    Kokkos::View<int***, Kokkos::LayoutRight, To> t("targets", n, std::size_t(s.spatial[1]),
                                                    std::size_t(s.spatial[2]));
    auto const host = Kokkos::create_mirror_view(t);
    for (std::size_t i = 0; i < host.size(); ++i)
      host.data()[i] = op::ignores_labels<L> && i % 3 == 1 ? -100 : int(i * 7) % s.channels;
    Kokkos::deep_copy(t, host);
    return t;
  }
}

template <class Net, class P, class L = MeanSquaredError> void train(int batch) {
  CAPTURE(batch);
  using S = typename P::storage;
  Space const exec;
  Host const host;
  Sgd const still{.rate = 0};
  Samples<Net, P> const samples(batch);
  auto const targets = targets_of<Net, L, Space>(batch);
  auto const targets_host = targets_of<Net, L, Kokkos::HostSpace>(batch);

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

}  // namespace phyllo::test
