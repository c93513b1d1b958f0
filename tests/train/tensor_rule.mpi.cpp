// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Norms of tensors, groups and frozen tensors on several ranks equal those of one rank with the
// whole batch, also where a tensor is split between ranks.

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>
#include <train/trust_ratio.hpp>

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace phyllo;
using test::TrustRatio;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Perceptron : Network<Input<6>, Linear<40>, Tanh, Linear<3>> {};

template <class C, class P, class Rule = TrustRatio>
using TrainerOf = Trainer<Perceptron, MeanSquaredError, Rule, P, C, Execution<Space>>;

int rank_of() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks_of() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

Matrix values(int columns, int step, double phase) {
  Matrix v("values", 12, std::size_t(columns));
  for (int n = 0; n < 12; ++n)
    for (int i = 0; i < columns; ++i)
      v(std::size_t(n), std::size_t(i)) = std::sin(phase + 0.7 * n + 1.3 * i + 2.9 * step);
  return v;
}

// Steps [begin, end), of which the third has a bad target on the last rank.
template <class T> void train(T& trainer, int begin, int end, bool split) {
  int const share = (12 + ranks_of() - 1) / ranks_of();
  std::pair<int, int> rows{0, 12};
  if (split) rows = {std::min(12, rank_of() * share), std::min(12, (rank_of() + 1) * share)};
  for (int step = begin; step < end; ++step) {
    auto const x = values(6, step, 0.3), t = values(3, step, 1.9);
    if (step == 2) t(11, 1) = std::numeric_limits<double>::quiet_NaN();
    trainer.step(Kokkos::subview(x, rows, Kokkos::ALL), Kokkos::subview(t, rows, Kokkos::ALL));
  }
}

template <class T> std::vector<double> numbers(T& trainer) {
  trainer.synchronize();
  trainer.exec().fence("tensor rule");
  auto const& master = trainer.model().master();
  std::vector<double> all(master.data(), master.data() + master.size());
  auto const& state = trainer.optimizer().state();
  auto const [first, last] = trainer.optimizer().share();
  int const of_tensors =
      int(state.size()) -
      std::remove_cvref_t<decltype(trainer.optimizer().rule())>::states * int(last - first);
  all.insert(all.end(), state.data() + state.size() - of_tensors, state.data() + state.size());
  return all;
}

double distance(std::vector<double> const& a, std::vector<double> const& b) {
  double d = 0, s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d += (a[i] - b[i]) * (a[i] - b[i]), s += a[i] * a[i];
  return std::sqrt(d / s);
}

template <class C, class P, class Rule>
void equals_one_rank(Rule const& rule, double bound, bool groups) {
  Space const exec;
  TrainerOf<Local, P, Rule> one(exec, rule, {.batch = 12, .seed = 7});
  TrainerOf<C, P, Rule> all(exec, MPI_COMM_WORLD, rule, {.batch = 12, .seed = 7});
  if (groups) {
    auto const choose = [](auto& trainer) {
      trainer.set_group(ParameterSelection::biases_and_norms(),
                        {.rate_factor = 0.5, .weight_decay = 0});
      trainer.set_group(ParameterSelection::named("0.weight"),
                        {.rate_factor = 2, .weight_decay = 0.3});
    };
    choose(one);
    choose(all);
  }
  for (int const frozen : {1, 2}) {
    one.optimizer().set_frozen(exec, frozen);
    all.optimizer().set_frozen(exec, frozen);
  }
  one.optimizer().set_frozen(exec, 1, false);
  all.optimizer().set_frozen(exec, 1, false);
  exec.fence("tensor rule");
  auto const initial = numbers(one);
  train(one, 0, 8, false);
  train(all, 0, 8, true);
  auto const wanted = numbers(one), got = numbers(all);
  CHECK(one.model().state()().skipped == 1);
  CHECK(all.model().state()().skipped == 1);
  CHECK(distance(wanted, got) < bound);
  CHECK(distance(wanted, initial) > 100 * bound);
  auto const& tensor = all.optimizer().tensors.tensor[2];
  int moved = 0;
  for (int i = tensor.offset; i < tensor.offset + tensor.count; ++i)
    moved += got[std::size_t(i)] != initial[std::size_t(i)];
  CHECK(moved == 0);
  // Every rank holds the same bits, of weights and of the rule's numbers of tensors.
  std::vector<double> first = got;
  MPI_Bcast(first.data(), int(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(first == got);

  MemoryCheckpoint<TrainerOf<C, P, Rule>> checkpoint(all);
  checkpoint.store(all);
  train(all, 8, 12, true);
  auto const last = numbers(all);
  CHECK(last != got);
  checkpoint.restore(all);
  CHECK(numbers(all) == got);
  train(all, 8, 12, true);
  CHECK(numbers(all) == last);
}

}  // namespace

TEST_CASE_TEMPLATE("tensor rule: several ranks equal one rank on the whole batch", C,
                   AllReduce<Mpi>, Sharded<AllReduce<Mpi>>) {
  for (bool const groups : {false, true}) {
    equals_one_rank<C, Full<double>>(TrustRatio{}, 1e-13, groups);
    equals_one_rank<C, Mixed<bf16, float>>(TrustRatio{}, 1e-5, groups);
  }
  equals_one_rank<C, Full<double>>(AdamW{.rate = 0.01, .weight_decay = 0.1}, 1e-12, true);
}

TEST_CASE("groups: ranks with other groups or frozen tensors than rank 0 are refused") {
  if (ranks_of() == 1) return;
  Space const exec;
  using T = TrainerOf<AllReduce<Mpi>, Full<double>, AdamW>;
  char const* const sentence = "got other groups or frozen tensors on rank";
  for (bool const freezes : {false, true}) {
    T trainer(exec, MPI_COMM_WORLD, AdamW{.rate = 0.01}, {.batch = 12, .seed = 7});
    train(trainer, 0, 1, true);
    if (freezes && rank_of() == 1) trainer.set_frozen(ParameterSelection::weights());
    if (!freezes)
      trainer.set_group(ParameterSelection::weights(), {.rate_factor = rank_of() == 1 ? 2.0 : 3.0});
    CHECK_THROWS_WITH_AS(train(trainer, 1, 2, true), doctest::Contains(sentence), Error);
    // A broadcast sends numbers, and no choices.
    trainer.broadcast();
    CHECK_THROWS_WITH_AS(train(trainer, 1, 2, true), doctest::Contains(sentence), Error);
    trainer.set_frozen(ParameterSelection::weights(), freezes);
    trainer.set_group(ParameterSelection::weights(), {.rate_factor = 2.0});
    train(trainer, 1, 2, true);
  }
}
