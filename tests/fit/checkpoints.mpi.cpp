// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checkpoints of several ranks: one file, the same bits on the same ranks, and under Reproducible
// on fewer; an error of one rank is one sentence on all.

#include <comm/ranks.hpp>
#include <fit/training_state.hpp>
#include <io/safetensors_file.hpp>
#include <phyllo/comm/mpi.hpp>
#include <phyllo/fit/checkpoints.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <memory>
#include <optional>

namespace {

using namespace phyllo;
using namespace phyllo::test;

constexpr BatchOptions options{.batch = 24, .seed = 5, .lanes = 12};

// A folder that rank 0 makes and all ranks use.
class SharedFolder {
 public:
  SharedFolder() {
    if (rank_of() == 0) {
      folder_.emplace();
      path_ = *folder_ / "";
    }
    path_.resize(200);
    MPI_Bcast(path_.data(), 200, MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = path_.c_str();
  }
  ~SharedFolder() { MPI_Barrier(MPI_COMM_WORLD); }
  std::string operator/(std::string const& name) const { return path_ + name; }

 private:
  std::optional<phyllo_test::TemporaryDirectory> folder_;
  std::string path_;
};

template <class C, class P> void check_resumed() {
  using T = Trainer<Noisy, MeanSquaredError, Adam, P, C>;
  SharedFolder const folder;
  std::string const path = folder / "training.safetensors";
  Adam const rule{.rate = 0.01, .schedule = cosine_schedule(25)};
  T whole(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 3});
  RowBatches all(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(whole, all, 20);
  T first(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 3});
  RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(first, batches, 10);
  save_training(first, batches, path);
  train_to(first, batches, 20);
  // Ranks have stale unrounded weights of the shares of others.
  auto const finished = [](T& trainer) {
    if constexpr (SharesParameters<C>) trainer.synchronize();
    return state_of(trainer);
  };
  auto const expected = finished(whole);
  CHECK((finished(first) == expected));  // to save has changed nothing
  T second(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 4});
  train_to(second, batches, 3);
  load_training(second, batches, path);
  train_to(second, batches, 20);
  CHECK((finished(second) == expected));
}

}  // namespace

TEST_CASE_TEMPLATE("checkpoint: on the same ranks the same bits", C, AllReduce<Mpi>,
                   Sharded<AllReduce<Mpi>> PHYLLO_IN_VERIFY(, Hierarchical<Mpi>)) {
  check_resumed<C, Mixed<fp16, float>>();
}

TEST_CASE("checkpoint: under Reproducible fewer ranks go on to the same bits") {
  using Exact = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<12>>;
  using T = Trainer<Noisy, MeanSquaredError, Adam, Full<float>, TreeReduce<Mpi>, Exact>;
  SharedFolder const folder;
  Checkpoints const checkpoints(folder / "run");
  Adam const rule{.rate = 0.01};
  T all(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 3});
  RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(all, batches, 10);
  checkpoints.save(all, batches);
  train_to(all, batches, 20);
  auto const learned = state_of(all);
  MPI_Comm fewer = MPI_COMM_NULL;
  int const rest = ranks_of() > 1 ? ranks_of() - 1 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of() < rest ? 0 : MPI_UNDEFINED, rank_of(), &fewer);
  if (fewer != MPI_COMM_NULL) {
    {
      T second(Space{}, fewer, rule, {.batch = 24, .seed = 4});
      RowBatches again(Space{}, points(100), options, rank_of(), rest);
      CHECK(checkpoints.resume(second, again));
      CHECK(again.position() == Position{2, 0});
      train_to(second, again, 20);
      CHECK((state_of(second) == learned));
    }
    MPI_Comm_free(&fewer);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) {
    ::unlink(checkpoints.path_of(10).c_str());
    ::rmdir((folder / "run").c_str());
  }
}

TEST_CASE("checkpoint: errors of one rank are the same sentence on all") {
  using T = Trainer<Noisy, MeanSquaredError, Adam, Mixed<fp16, float>, AllReduce<Mpi>>;
  SharedFolder const folder;
  T trainer(Space{}, MPI_COMM_WORLD, Adam{}, {.batch = 24});
  RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(trainer, batches, 2);
  auto const before = state_of(trainer);
  // Only rank 0 writes, into a folder that is not there.
  std::string sentence =
      sentence_of([&] { save_training(trainer, folder / "absent/training.safetensors"); });
  CHECK(phyllo_test::contains(sentence, "create the directory first"));
  std::string const path = folder / "training.safetensors";
  save_training(trainer, batches, path);
  // Only the last rank names another file.
  bool const is_last = rank_of() == ranks_of() - 1;
  sentence =
      sentence_of([&] { load_training(trainer, batches, is_last ? path + ".other" : path); });
  CHECK(phyllo_test::contains(sentence, "training.safetensors.other\": expected a file"));
  CHECK((state_of(trainer) == before));
  load_training(trainer, batches, path);
  train_to(trainer, batches, 3);
}
