// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains PHYLLO_PROBLEM (from CMake) under one policy after the other, for perf/convergence: a line
// of JSON for each epoch. On one rank Local, on several all others; the same batches of all ranks
// in the same order, and the same first weights.

#include "digits_problem.hpp"
#include "on_ranks.hpp"
#include "source_problem.hpp"

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace phyllo;
using Problem = PHYLLO_PROBLEM;
using Device = Kokkos::DefaultExecutionSpace;
using Reproduced =
    Execution<Device, DefaultBackends<Device>::type, FusionLevel::tile, Reproducible<4>>;

/// What all policies are trained with.
struct Course {
  std::string data;
  int epochs = 1;
  std::uint64_t seed = 1;
  float rate_factor = 1;  // of the problem's rate
};

template <class C, class Exec = Execution<>, class... From>
void train(char const* label, Course const& course, From const&... from) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long const largest = (Problem::batch + ranks - 1) / ranks;
  Problem problem(course.data, largest);
  Sampler sampler(problem.samples(), Problem::batch, rank, ranks, course.seed);
  Device const exec;
  Trainer<typename Problem::Network, typename Problem::Loss, typename Problem::Rule, Full<float>, C,
          Exec>
      trainer(exec, C(from...),
              Problem::rule(std::uint64_t(sampler.steps()) * std::uint64_t(course.epochs),
                            course.rate_factor),
              {.batch = int(largest), .seed = course.seed});
  Kokkos::View<long*> indices("batch indices", std::size_t(largest));
  auto const host = Kokkos::create_mirror_view(indices);
  auto const share = reproducible_range<Reproducible<4>>(problem.held_out(), rank, ranks);

  for (int epoch = 0; epoch <= course.epochs; ++epoch) {  // 0: as it begins
    MPI_Barrier(MPI_COMM_WORLD);
    double const start = MPI_Wtime();
    if (epoch > 0) sampler.start_epoch(std::uint64_t(epoch - 1));
    for (long step = 0; epoch > 0 && step < sampler.steps(); ++step) {
      auto const part = sampler.part(step);
      exec.fence("indices");
      for (std::size_t i = 0; i < part.size(); ++i) host(i) = part[i];
      Kokkos::deep_copy(exec, indices, host);
      long const count = long(part.size());
      problem.gather(exec, indices, count);
      trainer.step(problem.inputs(count), problem.targets(count));
    }
    trainer.synchronize();
    exec.fence("epoch");
    MPI_Barrier(MPI_COMM_WORLD);
    double const seconds = MPI_Wtime() - start;
    Evaluation const evaluation =
        trainer.evaluate(problem.held_out_inputs(share), problem.held_out_targets(share));
    if (rank != 0) continue;
    std::printf(
        "{\"problem\": \"%s\", \"policy\": \"%s\", \"ranks\": %d, \"seed\": %ld, \"batch\": %ld, "
        "\"steps\": %ld, \"epoch\": %d, \"loss\": %.9g, \"accuracy\": %.9g, \"seconds\": %.6g}\n",
        Problem::name, label, ranks, long(course.seed), Problem::batch, sampler.steps(), epoch,
        evaluation.loss, evaluation.accuracy, epoch > 0 ? seconds : 0.0);
    std::fflush(stdout);
  }
}

void train_all(Course const& course) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) return train<Local>("Local", course);
  using Sum = AllReduce<Mpi>;
  MPI_Comm const world = MPI_COMM_WORLD;
  train<Sum>("AllReduce", course, world);
  train<TreeReduce<Mpi>, Reproduced>("TreeReduce", course, world);
  train<Hierarchical<Mpi>>("Hierarchical", course, world, HierarchicalOptions{.ranks_per_node = 2});
  train<Sharded<Sum>>("Sharded", course, world);
  train<AllReduce<Wire<bf16, Mpi>>>("AllReduce, Wire<bf16>", course, world);
  train<AllReduce<Wire<fp16, Mpi>>>("AllReduce, Wire<fp16>", course, world);
  train<Lag<1, Sum>>("Lag<1>", course, world);
  train<LocalSgd<4, Mpi>>("LocalSgd<4>", course, world);
  train<LocalSgd<16, Mpi>>("LocalSgd<16>", course, world);
  train<LocalSgd<when_asked, Mpi>>("LocalSgd<when_asked>", course, world);
  train<Asynchronous<1, Sum>>("Asynchronous<1>", course, world);
  train<Asynchronous<4, Sum>>("Asynchronous<4>", course, world);
  train<Groups<2, Sum, LocalSgd<4, Mpi>>>("Groups<2>, LocalSgd<4>", course, world);
  train<Groups<2, Sum, Asynchronous<4, Sum>>>("Groups<2>, Asynchronous<4>", course, world);
}

}  // namespace

int main(int argc, char* argv[]) {
  return perf::on_ranks(argc, argv, [](int count, char** arguments) {
    if (count != 5) {
      std::fprintf(stderr, "usage: %s DIGITS EPOCHS SEEDS RATE\n", arguments[0]);
      return 2;
    }
    for (int seed = 1; seed <= std::atoi(arguments[3]); ++seed)
      train_all({arguments[1], std::atoi(arguments[2]), std::uint64_t(seed),
                 float(std::atof(arguments[4]))});
    return 0;
  });
}
