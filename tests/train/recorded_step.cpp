// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a trainer counts on the host while steps are recorded and replayed, as devices do it.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace phyllo;

using Host = Kokkos::DefaultHostExecutionSpace;

// The step is made when it is recorded, and at no launch.
struct Recording {
  template <class Record> Recording(Host const&, std::string const&, Record const& record) {
    record();
  }
  void launch(Host const&, std::string const&) const {}
};
template <> struct phyllo::Recorder<Host> {
  using type = Recording;
};

namespace {
struct Net : Network<Input<6>, Linear<4>, Tanh, Linear<3>> {};
}  // namespace

TEST_CASE("a recording counts as nothing, a replay as the step that was recorded") {
  constexpr int batch = 10;
  Host const exec;
  Kokkos::View<float**, Kokkos::LayoutRight, Host> x("inputs", batch, 6);
  Kokkos::View<int*, Host> t("classes", batch);
  using T = Trainer<Net, CrossEntropy, Sgd, Full<float>, Local, Execution<Host>>;
  T trainer(exec, Sgd{.rate = 0.1f}, {.batch = batch});
  trainer.step(x, t);
  auto captured = trainer.capture(x, t);
  static_assert(decltype(captured)::is_graph);
  CHECK(trainer.steps() == 1);
  CHECK(trainer.samples_seen() == batch);
  auto const two = std::pair(0, 2);
  trainer.step(Kokkos::subview(x, two, Kokkos::ALL), Kokkos::subview(t, two));
  captured.replay();
  captured.replay();
  CHECK(trainer.steps() == 4);
  CHECK(trainer.samples_seen() == 3 * batch + 2);
}
