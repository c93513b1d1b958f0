// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What happens on one rank and concerns all: a bad number, a class index out of range, weights
// that one rank has loaded. All ranks skip the same step, or refuse it by the same sentence.

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>
#include <sentence_of.hpp>
#include <train/kept_state.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <mpi.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace phyllo;
using test::kept_of, test::sentence_of;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Labels = Kokkos::View<int*, Kokkos::HostSpace>;
constexpr int batch = 6;

struct Net : Network<Input<4>, Linear<6>, BatchNorm<Statistics::Global>, ReLU, Linear<3>> {};
struct Plain : Network<Input<4>, Linear<6>, ReLU, Linear<3>> {};
using Shards =
    Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<6>>;

int rank() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}
int ranks() {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}
bool is_last() { return rank() == ranks() - 1; }

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

bool same_on_all_ranks(std::vector<double> const& mine) {
  std::vector<double> first = mine;
  MPI_Bcast(first.data(), int(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int same = first == mine, all = 0;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

// This rank's samples of a global batch: 6 under Reproducible, which splits them itself.
template <class Exec> int samples() {
  if constexpr (Exec::shards > 0) {
    auto const [first, last] = reproducible_range<Reproducible<6>>(batch, rank(), ranks());
    return int(last - first);
  }
  return batch;
}
Matrix values(int n) {
  Matrix x("x", std::size_t(n), 4);
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = std::sin(double(rank()) + 1.9 * double(i));
  return x;
}
Labels labels(int n) {
  Labels t("labels", std::size_t(n));
  for (int i = 0; i < n; ++i) t(i) = (i + rank()) % 3;
  return t;
}

// Whether the ranks of a policy train the same weights in every step.
template <class C> inline constexpr bool is_synchronous = !ExchangesWeights<C>;

template <class N, class P, class C, class Exec = Execution<Space>> void check_bad_steps() {
  CAPTURE(C::name);
  Space const exec;
  Trainer<N, CrossEntropy, Sgd, P, C, Exec> trainer(
      exec, MPI_COMM_WORLD, Sgd{.rate = 0.1, .momentum = 0.9}, {.batch = batch});
  auto const x = values(samples<Exec>());
  auto const t = labels(samples<Exec>());
  trainer.step(x, t);
  auto const before = kept_of(trainer);
  if (is_last()) x(0, 2) = std::numeric_limits<double>::quiet_NaN();
  trainer.step(x, t);
  if (is_last() || is_synchronous<C>) CHECK(kept_of(trainer) == before);
  if (is_last()) x(0, 2) = 0;

  auto const again = kept_of(trainer);
  if (is_last()) t(0) = 3;
  trainer.step(x, t);
  if (is_last() || is_synchronous<C>) CHECK(kept_of(trainer) == again);
  if (is_last()) t(0) = 0;
  std::string const one = is_last() ? "got 1 outside of them, such as 3 for sample 0"
                                    : "got 1 outside of them, on other ranks";
  if (is_last() || is_synchronous<C>) {
    auto const sentence = sentence_of([&] { trainer.loss(); });
    CAPTURE(sentence);
    CHECK(contains(sentence, one));
  }
  CHECK(sentence_of([&] { trainer.loss(); }) == "");

  trainer.step(x, t);
  CHECK(sentence_of([&] { trainer.evaluate(x, t); }) == "");
  if (is_last()) t(0) = -1;
  trainer.step(x, t);
  if (is_last()) t(0) = 0;
  auto const sentence = sentence_of([&] { trainer.evaluate(x, t); });
  CAPTURE(sentence);
  CHECK(contains(sentence, "got 1 outside of them"));
  CHECK(contains(sentence, is_last() ? "such as -1 for sample 0" : "on other ranks"));
  CHECK(std::isfinite(trainer.evaluate(x, t).loss));
}

template <class N, class P, class C, class Exec = Execution<Space>> void check_differing_weights() {
  CAPTURE(C::name);
  Space const exec;
  Trainer<N, CrossEntropy, Sgd, P, C, Exec> trainer(
      exec, MPI_COMM_WORLD, Sgd{.rate = 0.1, .momentum = 0.9}, {.batch = batch});
  auto const x = values(samples<Exec>());
  auto const t = labels(samples<Exec>());
  trainer.step(x, t);
  // The same on all ranks: nothing is said.
  trainer.model().initialize(exec, KaimingUniform{}, 7);
  CHECK(sentence_of([&] { trainer.step(x, t); }) == "");
  CHECK(same_on_all_ranks({trainer.loss()}));
  if (ranks() == 1) return;

  if (is_last()) trainer.model().initialize(exec, KaimingUniform{}, 8);
  std::string const ranks_text = std::to_string(ranks() - 1);
  for (int k = 0; k < 2; ++k) {  // again and again, until it is mended
    auto const before = kept_of(trainer);
    auto const sentence = sentence_of([&] { trainer.step(x, t); });
    CAPTURE(sentence);
    CHECK(contains(sentence, "expected the same numbers on all " + std::to_string(ranks())));
    CHECK(contains(sentence, "got other weights"));
    CHECK(contains(sentence, " on rank " + ranks_text + " than on rank 0"));
    CHECK(kept_of(trainer) == before);
  }
  CHECK(contains(sentence_of([&] { trainer.evaluate(x, t); }), "on rank " + ranks_text));
  trainer.broadcast(ranks() - 1);
  CHECK(sentence_of([&] { trainer.step(x, t); }) == "");
  CHECK(sentence_of([&] { trainer.evaluate(x, t); }) == "");
  if (!SharesParameters<C>) CHECK(same_on_all_ranks(kept_of(trainer)));

  // evaluate compares as well.
  if (rank() == 0) trainer.model().initialize(exec, KaimingUniform{}, 9);
  CHECK(contains(sentence_of([&] { trainer.evaluate(x, t); }), "than on rank 0"));
  trainer.broadcast();
  CHECK(std::isfinite(trainer.evaluate(x, t).loss));
  CHECK(contains(sentence_of([&] { trainer.broadcast(ranks()); }), "expected a rank from 0 to"));
}

}  // namespace

TEST_CASE("differing ranks: a bad number or label on one rank skips the step on all") {
  check_bad_steps<Net, Full<float>, AllReduce<Mpi>>();
  check_bad_steps<Plain, Full<double>, Sharded<AllReduce<Mpi>>>();
  check_bad_steps<Plain, Full<float>, TreeReduce<Mpi>, Shards>();
  check_bad_steps<Plain, Full<float>, LocalSgd<100, Mpi>>();
#if defined(PHYLLO_ALL_CASES)
  check_bad_steps<Plain, Mixed<fp16, float>, AllReduce<Mpi>>();
  check_bad_steps<Plain, Full<float>, AllReduce<Wire<bf16, Mpi>>>();
#endif
}

TEST_CASE("differing ranks: weights that one rank has changed are refused, and broadcast mends") {
  check_differing_weights<Net, Full<float>, AllReduce<Mpi>>();
  check_differing_weights<Plain, Mixed<bf16, float>, Sharded<AllReduce<Mpi>>>();
  check_differing_weights<Plain, Full<float>, TreeReduce<Mpi>, Shards>();
#if defined(PHYLLO_ALL_CASES)
  check_differing_weights<Plain, Mixed<bf16, float>, AllReduce<Mpi, 64>>();
  check_differing_weights<Plain, Full<double>, Hierarchical<Mpi>>();
#endif
}

TEST_CASE("differing ranks: by hand, and all numbers that training keeps") {
  Space const exec;
  using M = Model<Net, Full<float>, Execution<Space>>;
  M model(exec, {.batch = batch});
  AllReduce<Mpi> communication(MPI_COMM_WORLD);
  Optimizer<Sgd, M> optimizer(exec, model, Sgd{.momentum = 0.9});
  auto const x = values(batch);
  Matrix y("y", batch, 3), d("d", batch, 3);
  Kokkos::deep_copy(d, 0.5);
  auto const step = [&] {
    model.forward(exec, x, y, communication);
    model.backward(exec, d, batch, communication);
    optimizer.step(exec, model, communication);
  };
  step();
  CHECK(sentence_of(step) == "");
  if (is_last()) {
    model.buffers()(0) = 5;
    optimizer.state()(0) = 5;
    model.weights_changed(exec);
  }
  CHECK(contains(sentence_of(step), "got other buffers and optimizer state on rank ") ==
        (ranks() > 1));
}
