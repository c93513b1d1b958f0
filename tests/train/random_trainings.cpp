// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random trainings against plain loops in double: every update rule with drawn options, schedule
// and clipping; steps on batches of any size, micro-batches, groups, frozen tensors, rates set
// between steps, numbers that are not finite, labels out of range, captured steps, averages of
// weights, checkpoints in memory and in files.

#include <train/random_training.hpp>

#include <random>

namespace {

using namespace phyllo;
using namespace phyllo::test;

using Bits =
    Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;

template <class Net, class Rule, bool Classes, class Exec = Execution<Space>> void check() {
  check_trainings<Net, Rule, Classes, Local, Exec>(file_of_training(std::random_device{}()));
}

}  // namespace

TEST_CASE("random trainings: SGD") { check<Perceptron, Sgd, false>(); }
TEST_CASE("random trainings: Adam") { check<Normalized, Adam, true>(); }
TEST_CASE("random trainings: AdamW") { check<Perceptron, AdamW, true>(); }
TEST_CASE("random trainings: AMSGrad") { check<Normalized, AmsGrad, false>(); }
TEST_CASE("random trainings: NAdam") { check<Perceptron, NAdam, false>(); }
TEST_CASE("random trainings: RMSprop") { check<Normalized, RmsProp, true>(); }
TEST_CASE("random trainings: Adagrad") { check<Perceptron, Adagrad, true>(); }
TEST_CASE("random trainings: Lion") { check<Perceptron, Lion, false>(); }
TEST_CASE("random trainings: LARS") { check<Normalized, Lars, false>(); }
TEST_CASE("random trainings: LAMB") { check<Normalized, Lamb, true>(); }
TEST_CASE("random trainings: SGD with the same bits on any ranks") {
  check<Perceptron, Sgd, true, Bits>();
}
