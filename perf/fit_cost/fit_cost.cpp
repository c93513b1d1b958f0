// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What fit costs over the loop by hand: epochs of both in turn on the same trainer and batches, the
// loop by hand without a look at any loss. The median and the quartiles of the ratios of
// neighbours.

#include <phyllo/data/view_source.hpp>
#include <phyllo/fit/fit.hpp>
#include <phyllo/phyllo.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using namespace phyllo;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight>;

struct Small : Network<Input<8>, Linear<32>, SiLU, Linear<32>, SiLU, Linear<2>> {};
struct Medium : Network<Input<64>, Repeat<4, Linear<128>, ReLU>, Linear<8>> {};

template <class Net> void measure(char const* name, long batch) {
  constexpr int pairs = 41;
  constexpr long samples = 32768;
  Kokkos::DefaultExecutionSpace exec;
  Rows x("x", samples, std::size_t(Net::input.size())),
      t("t", samples, std::size_t(Net::output.size()));
  auto const numbers = Kokkos::create_mirror_view(x), targets = Kokkos::create_mirror_view(t);
  for (std::size_t n = 0; n < numbers.extent(0); ++n) {
    for (std::size_t i = 0; i < numbers.extent(1); ++i)
      numbers(n, i) = float(std::sin(double(7 * n + 3 * i)));
    for (std::size_t i = 0; i < targets.extent(1); ++i)
      targets(n, i) = numbers(n, i) * numbers(n, i + 1);
  }
  Kokkos::deep_copy(x, numbers);
  Kokkos::deep_copy(t, targets);
  Batches<Rows, Rows> batches(exec, ViewSource(x, t), {.batch = batch, .seed = 1});
  Trainer<Net, MeanSquaredError, Adam> trainer(exec, Adam{.rate = 1e-4f}, {.batch = int(batch)});

  auto const seconds_of = [&](auto const& epoch) {
    exec.fence();
    Kokkos::Timer const timer;
    epoch();
    exec.fence();
    return timer.seconds();
  };
  auto const by_hand = [&] {
    for (auto const& b : batches.epoch(batches.position().epoch)) trainer.step(b.inputs, b.targets);
  };
  auto const fitted = [&] { fit(trainer, batches, {.epochs = batches.position().epoch + 1}); };
  by_hand();
  fitted();
  std::vector<double> ratios, times;
  for (int k = 0; k < pairs; ++k) {
    double const first = seconds_of(by_hand), middle = seconds_of(fitted),
                 last = seconds_of(by_hand);
    ratios.push_back(2 * middle / (first + last));
    times.push_back(first);
  }
  std::sort(ratios.begin(), ratios.end());
  std::sort(times.begin(), times.end());
  std::printf("%-28s batch %5ld  %7.2f us a step  fit / by hand %.4f (%.4f to %.4f)\n", name, batch,
              1e6 * times[pairs / 2] / double(batches.steps()), ratios[pairs / 2],
              ratios[pairs / 4], ratios[3 * pairs / 4]);
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  for (long const batch : {64L, 1024L}) {
    measure<Small>("8-32-32-2", batch);
    measure<Medium>("64-128-128-128-128-8", batch);
  }
}
