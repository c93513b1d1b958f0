// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// After the first steps nothing is allocated by a step of several ranks; what MPI allocates for
// itself is not counted.

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/asynchronous.hpp>
#include <phyllo/comm/hierarchical.hpp>
#include <phyllo/comm/local_sgd.hpp>
#include <phyllo/comm/mpi.hpp>
#include <phyllo/comm/sharded.hpp>
#include <phyllo/comm/tree_reduce.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <counted_allocations.hpp>

#include <mpi.h>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Space::memory_space>;

// One bucket; several, layer by layer, with masks that ranks draw apart.
struct NarrowPerceptron : Network<Input<4>, Linear<8>, Tanh, Linear<2>> {};
struct SeveralBuckets : Network<Input<4>, Linear<200>, Tanh, BatchNorm<>, Dropout<0.1>, Linear<200>,
                                ReLU, Linear<2>> {};

template <class Net, class C, class Bits = Fastest> void check() {
  using Exec = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Bits>;
  constexpr int batch = 4;
  Space const exec;
  Trainer<Net, MeanSquaredError, Adam, Full<float>, C, Exec> trainer(
      exec, MPI_COMM_WORLD, {.rate = 0.01f}, {.batch = batch});
  Matrix const x("x", batch, 4), y("y", batch, 2);
  for (int i = 0; i < 20; ++i) trainer.step(x, y);
  long const before = test::allocated;
  for (int i = 0; i < 20; ++i) trainer.step(x, y);
  CHECK(test::allocated - before == 0);
  trainer.loss();
  trainer.progress();
  CHECK(test::allocated - before == 0);
}

}  // namespace

TEST_CASE("allocation: steps of several ranks") {
  SUBCASE("one bucket") { check<NarrowPerceptron, AllReduce<Mpi>>(); }
  SUBCASE("several buckets") { check<SeveralBuckets, AllReduce<Mpi, 1024>>(); }
  SUBCASE("LocalSgd") { check<NarrowPerceptron, LocalSgd<4, Mpi>>(); }
  SUBCASE("Sharded") { check<NarrowPerceptron, Sharded<AllReduce<Mpi>>>(); }
  SUBCASE("Hierarchical") { check<SeveralBuckets, Hierarchical<Mpi, Mpi, 1024>>(); }
  SUBCASE("Asynchronous") { check<NarrowPerceptron, Asynchronous<2, AllReduce<Mpi>>>(); }
  SUBCASE("TreeReduce") { check<NarrowPerceptron, TreeReduce<Mpi>, Reproducible<12>>(); }
}
