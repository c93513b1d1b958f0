// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Models that no memory holds: one sentence with the remedy, and the program goes on as if it had
// not asked.

#include <core/refused_memory.hpp>
#include <networks/lenet.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

using namespace phyllo;
using phyllo::test::bytes_of_no_machine;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
// In double and layer by layer, the largest batch of all takes more than there are addresses.
using Exec = Execution<Space, DefaultBackends<Space>::type, FusionLevel::epilogue>;
using LeNet = Model<networks::LeNet, Full<double>, Exec>;
using LeNetTrainer = Trainer<networks::LeNet, CrossEntropy, Adam, Full<double>, Local, Exec>;
constexpr int most = std::numeric_limits<int>::max();

std::string message_of(auto&& work) {
  try {
    work();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

// Trains a few steps on made-up digits; the losses before and after.
std::pair<double, double> train(LeNetTrainer& trainer, int batch) {
  Kokkos::View<double****, Kokkos::HostSpace> x("x", std::size_t(batch), 1, 28, 28);
  Kokkos::View<int*, Kokkos::HostSpace> t("t", std::size_t(batch));
  for (int n = 0; n < batch; ++n) {
    t(n) = n % 10;
    for (int i = 0; i < 28; ++i)
      for (int j = 0; j < 28; ++j) x(n, 0, i, j) = std::sin(0.1 * (n % 10 + 1) * (i + j));
  }
  double const before = trainer.evaluate(x, t).loss;
  for (int s = 0; s < 20; ++s) trainer.step(x, t);
  return {before, trainer.evaluate(x, t).loss};
}

}  // namespace

TEST_CASE("out of memory: a batch that no machine holds names the network and the option") {
  long const bytes = std::max(LeNet::Training::memory.bytes, LeNet::Inference::memory.bytes);
  REQUIRE(bytes * most > bytes_of_no_machine);
  std::string const message = message_of([] { LeNet(Space(), {.batch = most}); });
  CHECK(message ==
        "networks::LeNet/activations: expected room for " + readable_bytes(bytes * most) +
            " in the memory space Host, got none. Build the model with a smaller "
            "ModelOptions::batch than 2147483647; explain() prints the bytes of a sample.");
}

TEST_CASE("out of memory: afterwards models are made and trained, and those there were go on") {
  Space const exec;
  LeNetTrainer before(exec, Adam{}, {.batch = 20, .seed = 3});
  train(before, 20);
  for (int times = 0; times < 3; ++times)
    CHECK_THROWS_AS(LeNetTrainer(exec, Adam{}, {.batch = most}), Error);
  LeNetTrainer after(exec, Adam{}, {.batch = 20, .seed = 3});
  auto const [first, last] = train(after, 20);
  CHECK(last < 0.5 * first);
  // The one from before has trained as long, then as long again, as if nothing had been.
  LeNetTrainer undisturbed(exec, Adam{}, {.batch = 20, .seed = 3});
  train(undisturbed, 20);
  auto const expected = train(undisturbed, 20);
  auto const got = train(before, 20);
  CHECK(got.first == expected.first);
  CHECK(got.second == expected.second);
}
