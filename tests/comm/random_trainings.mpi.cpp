// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random trainings on several ranks against plain loops over the samples of all: as
// train/random_trainings.cpp, with batches cut anywhere, ranks without samples, and broadcasts.

#include <phyllo/comm/mpi.hpp>
#include <train/random_training.hpp>

#include <mpi.h>

#include <random>

namespace {

using namespace phyllo;
using namespace phyllo::test;

template <class Rule, bool Classes, class C> void check() {
  unsigned number = std::random_device{}();
  MPI_Bcast(&number, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  check_trainings<Perceptron, Rule, Classes, C>(file_of_training(number), MPI_COMM_WORLD);
}

}  // namespace

TEST_CASE("random trainings: SGD under AllReduce") { check<Sgd, false, AllReduce<Mpi, 64>>(); }
TEST_CASE("random trainings: AdamW under Sharded") {
  check<AdamW, true, Sharded<AllReduce<Mpi>>>();
}
TEST_CASE("random trainings: LAMB under Sharded") { check<Lamb, false, Sharded<AllReduce<Mpi>>>(); }
TEST_CASE("random trainings: NAdam under Hierarchical") { check<NAdam, true, Hierarchical<Mpi>>(); }
