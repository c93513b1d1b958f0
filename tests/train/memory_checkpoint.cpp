// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Going on from a commit repeats what was learned after it, bit for bit.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

struct Net : Network<Input<6>, Linear<20>, BatchNorm<>, Tanh, Dropout<0.3>, Linear<3>> {};

template <class P> using Training = Trainer<Net, MeanSquaredError, Adam, P>;

template <class T> void step(T& trainer, int number) {
  Kokkos::View<float**> const x("x", 8, 6), t("t", 8, 3);
  auto const host_x = Kokkos::create_mirror_view(x), host_t = Kokkos::create_mirror_view(t);
  for (int n = 0; n < 8; ++n) {
    for (int i = 0; i < 6; ++i) host_x(n, i) = float(std::sin(1 + n + 3 * i + 0.7 * number));
    for (int i = 0; i < 3; ++i) host_t(n, i) = float(std::cos(n * i + 0.3 * number));
  }
  Kokkos::deep_copy(x, host_x);
  Kokkos::deep_copy(t, host_t);
  trainer.step(x, t);
}

template <class V> void append(std::vector<double>& all, V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  for (std::size_t i = 0; i < host.extent(0); ++i) all.push_back(double(float(host(i))));
}

// Everything that the next step depends on.
template <class T> std::vector<double> state_of(T const& trainer) {
  std::vector<double> all;
  append(all, trainer.model().parameters());
  append(all, trainer.model().master());
  append(all, trainer.model().buffers());
  append(all, trainer.optimizer().state());
  auto const state =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, trainer.model().state());
  all.insert(all.end(),
             {double(state().step), double(state().forward), double(state().loss_scale)});
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("MemoryCheckpoint: the same steps again give the same bits", P, Full<float>,
                   Full<double>, Mixed<fp16, float>) {
  Training<P> trainer(Space{}, Adam{.rate = 0.05f}, {.batch = 8, .seed = 3});
  MemoryCheckpoint<Training<P>> commit(trainer);
  for (int k = 0; k < 3; ++k) step(trainer, k);
  commit.store(trainer);
  CHECK(commit.steps() == 3);
  auto const committed = state_of(trainer);
  for (int k = 3; k < 6; ++k) step(trainer, k);
  auto const learned = state_of(trainer);
  CHECK(learned != committed);
  commit.restore(trainer);
  CHECK(trainer.steps() == 3);
  CHECK(state_of(trainer) == committed);
  for (int k = 3; k < 6; ++k) step(trainer, k);
  CHECK(state_of(trainer) == learned);

  // Another trainer, which has never seen a sample and drew other weights.
  Training<P> other(Space{}, Adam{.rate = 0.05f}, {.batch = 8, .seed = 4});
  commit.restore(other);
  for (int k = 3; k < 6; ++k) step(other, k);
  CHECK(state_of(other) == learned);
}

TEST_CASE("MemoryCheckpoint: the last one counts, and none is a sentence") {
  using T = Training<Full<float>>;
  T trainer(Space{}, Adam{}, {.batch = 8});
  MemoryCheckpoint<T> commit(trainer);
  CHECK(commit.steps() == 0);
  std::string sentence;
  try {
    commit.restore(trainer);
  } catch (Error const& error) {
    sentence = error.what();
  }
  CHECK(sentence ==
        "Net: expected a checkpoint that all ranks have stored, got none. Call "
        "MemoryCheckpoint::store "
        "after a step, on every rank.");
  std::vector<double> last;
  for (int k = 0; k < 5; ++k) {
    step(trainer, k);
    commit.store(trainer);
    last = state_of(trainer);
  }
  step(trainer, 5);
  commit.restore(trainer);
  CHECK(trainer.steps() == 5);
  CHECK(state_of(trainer) == last);
}
