// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// usage: training FAULT RANK STEP TIMEOUT [library-sums]
//
// A training on several ranks, in which RANK does FAULT before STEP: faults.py starts it and looks
// at what comes of it. What it writes to standard error begins with the time in seconds.
//
//   none      trains to the end
//   stall     never comes to the step
//   throw     leaves by an exception, and then hangs
//   refuse    gives the step a batch that is too large, and then hangs
//   leave     ends its training early, and then hangs
//   kill      dies
//   recover   dies; the others go on without it (under mpirun --with-ft ulfm)

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace phyllo;

// Sums in the forward pass, several buckets in the backward pass.
struct Small : Network<Input<2, 4, 4>, Conv2d<4>, BatchNorm<Statistics::Global>, Tanh, Flatten,
                       Linear<20>, Tanh, Linear<3>> {};
using SmallTrainer = Trainer<Small, MeanSquaredError, Sgd, Full<float>, AllReduce<Mpi, 256>>;

static void say(int rank, std::string const& what) {
  using namespace std::chrono;
  double const now = duration<double>(system_clock::now().time_since_epoch()).count();
  std::fprintf(stderr, "%.3f rank %d: %s\n", now, rank, what.c_str());
}

[[noreturn]] static void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

struct Fault {
  std::string kind;
  int rank = 0;
  long step = 0;
  double timeout = 0;
  bool library_sums = false;
};

constexpr int batch = 4;
constexpr long last_step = 40;

static void commit_fault(Fault const& fault, SmallTrainer& trainer) {
  if (fault.kind == "stall") hang();
  if (fault.kind == "throw") throw std::runtime_error("the disk is full");
  if (fault.kind == "kill" || fault.kind == "recover") std::raise(SIGKILL);
  if (fault.kind == "refuse") {
    Kokkos::View<float****> const x("x", batch + 1, 2, 4, 4);
    Kokkos::View<float**> const t("t", batch + 1, 3);
    trainer.step(x, t);
  }
}

// The trainer goes when this returns or throws; the commit stays.
static void train(Fault const& fault, MPI_Comm communicator, int rank,
                  std::optional<MemoryCheckpoint<SmallTrainer>>& commit) {
  Kokkos::DefaultExecutionSpace const exec;
  SmallTrainer trainer(
      exec, Mpi(communicator, {.library_sums = fault.library_sums, .timeout = fault.timeout}),
      Sgd{.rate = 0.05f}, ModelOptions{.batch = batch});
  if (commit) {
    commit->restore(trainer);
    say(rank, "continues from step " + std::to_string(trainer.steps()));
  } else {
    commit.emplace(trainer);
  }
  Kokkos::View<float****> const x("x", batch, 2, 4, 4);
  Kokkos::View<float**> const t("t", batch, 3);
  Kokkos::deep_copy(x, 0.25f * float(rank + 1));
  Kokkos::deep_copy(t, 0.5f);
  while (trainer.steps() < last_step) {
    if (fault.kind != "none" && rank == fault.rank && trainer.steps() + 1 == fault.step) {
      say(rank, "fault");
      if (fault.kind == "leave") return;
      commit_fault(fault, trainer);
    }
    trainer.step(x, t);
    if (trainer.steps() % 5 == 0) commit->store(trainer);
  }
  say(rank, "trained " + std::to_string(trainer.steps()) + " steps, loss " +
                std::to_string(trainer.loss()));
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  Kokkos::ScopeGuard const kokkos(argc, argv);
  bool const library_sums = argc == 6 && std::string(argv[5]) == "library-sums";
  if (argc != 5 && !library_sums) return 2;
  Fault const fault{argv[1], std::atoi(argv[2]), std::atol(argv[3]), std::atof(argv[4]),
                    library_sums};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  try {
    std::optional<MemoryCheckpoint<SmallTrainer>> commit;
    try {
      train(fault, MPI_COMM_WORLD, rank, commit);
    } catch (RankFailure const& failure) {
      if (fault.kind != "recover") throw;
      say(rank, failure.what());
      MPI_Comm alive = survivors(MPI_COMM_WORLD);
      train(Fault{.kind = "none", .library_sums = fault.library_sums}, alive, rank, commit);
      MPI_Comm_free(&alive);
    }
  } catch (std::exception const& error) {
    say(rank, error.what());
    if (rank != fault.rank) MPI_Abort(MPI_COMM_WORLD, 3);
    hang();
  }
  if (fault.kind != "none" && rank == fault.rank) hang();
  MPI_Finalize();
  return 0;
}
