// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Commits under every policy: the same steps again give the same bits, and fewer ranks go on from
// what all had.

#include <comm/policies.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <memory>

namespace {

using namespace phyllo;
using namespace phyllo::test;

constexpr Sgd rule{.rate = 0.25f, .momentum = 0.5f};
using Numbers = std::vector<double>;

std::pair<int, int> own_rows() { return rows_of(batches(false), rank_of()); }

// Ranks without the last one; MPI_COMM_NULL on that.
MPI_Comm without_last() {
  MPI_Comm fewer = MPI_COMM_NULL;
  bool const stays = rank_of() < ranks_of() - 1;
  MPI_Comm_split(MPI_COMM_WORLD, stays ? 0 : MPI_UNDEFINED, rank_of(), &fewer);
  return fewer;
}

// Two steps, a commit, a step that is lost, and two more steps without the last rank.
template <class C, class P> Numbers gone_on() {
  using R = Run<Deep, C, P>;
  MemoryCheckpoint<typename R::TrainerType> commit = [&] {
    R all(rule, MPI_COMM_WORLD);
    MemoryCheckpoint<typename R::TrainerType> first(all.trainer);
    for (int s = 0; s < 2; ++s) all.step(s, own_rows());
    first.store(all.trainer);
    all.step(2, own_rows());
    return first;
  }();
  MPI_Comm fewer = without_last();
  if (fewer == MPI_COMM_NULL) return {};
  Numbers weights;
  {
    R rest(rule, fewer);
    commit.restore(rest.trainer);
    CHECK(rest.trainer.steps() == 2);
    std::pair<int, int> const rows = {8 * rank_of() / (ranks_of() - 1),
                                      8 * (rank_of() + 1) / (ranks_of() - 1)};
    for (int s = 3; s < 5; ++s) rest.step(s, rows);
    rest.trainer.synchronize();
    weights = rest.weights();
  }
  MPI_Comm_free(&fewer);
  return weights;
}

}  // namespace

TEST_CASE_TEMPLATE("MemoryCheckpoint: steps after it are repeated bit for bit under this policy", C,
                   AllReduce<Mpi>, Hierarchical<Mpi>, Sharded<AllReduce<Mpi>>,
                   AllReduce<Wire<bf16, Mpi>>, LocalSgd<1, Mpi>) {
  Run<Deep, C, Mixed<bf16, float>> run(rule, MPI_COMM_WORLD);
  MemoryCheckpoint<typename decltype(run)::TrainerType> commit(run.trainer);
  for (int s = 0; s < 2; ++s) run.step(s, own_rows());
  commit.store(run.trainer);
  auto const state = run.rule_state();
  for (int s = 2; s < 4; ++s) run.step(s, own_rows());
  run.trainer.synchronize();
  Numbers const once = run.weights();
  commit.restore(run.trainer);
  CHECK(run.trainer.steps() == 2);
  CHECK(run.rule_state() == state);
  for (int s = 2; s < 4; ++s) run.step(s, own_rows());
  run.trainer.synchronize();
  CHECK(run.weights() == once);
}

TEST_CASE_TEMPLATE("MemoryCheckpoint: fewer ranks go on from shares of all, as without shares", P,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<double>)) {
  if (ranks_of() == 1) return;
  Numbers const whole = gone_on<AllReduce<Mpi>, P>();
  CHECK(gone_on<Sharded<AllReduce<Mpi>>, P>() == whole);
  CHECK(whole.empty() == (rank_of() == ranks_of() - 1));
}

TEST_CASE("MemoryCheckpoint: under Reproducible fewer ranks go on to the same bits") {
  using Exact = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<12>>;
  using Training = Trainer<Deep, MeanSquaredError, Sgd, Full<float>, TreeReduce<Mpi>, Exact>;
  auto const step = [](Training& trainer, int number, int rank, int ranks) {
    auto const rows = reproducible_range(8, rank, ranks);
    auto const part = [&](Table const& all) {
      return Kokkos::subview(Kokkos::create_mirror_view_and_copy(Space{}, all),
                             std::pair<long, long>(rows), Kokkos::ALL);
    };
    trainer.step(part(integers(4, number)), part(integers(4, number + 31)));
  };
  auto const weights = [](Training const& trainer) {
    Kokkos::fence();
    auto const host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, trainer.model().master());
    return std::vector<float>(host.data(), host.data() + host.size());
  };
  Sgd const small{.rate = 0.01f, .momentum = 0.9f};
  auto all = std::make_unique<Training>(Space{}, MPI_COMM_WORLD, small, ModelOptions{.batch = 8});
  MemoryCheckpoint<Training> commit(*all);
  for (int s = 0; s < 2; ++s) step(*all, s, rank_of(), ranks_of());
  commit.store(*all);
  for (int s = 2; s < 4; ++s) step(*all, s, rank_of(), ranks_of());
  auto const learned = weights(*all);
  all.reset();
  MPI_Comm fewer = without_last();
  if (fewer == MPI_COMM_NULL) return;
  {
    Training rest(Space{}, fewer, small, {.batch = 8});
    commit.restore(rest);
    for (int s = 2; s < 4; ++s) step(rest, s, rank_of(), ranks_of() - 1);
    CHECK(weights(rest) == learned);
  }
  MPI_Comm_free(&fewer);
}
