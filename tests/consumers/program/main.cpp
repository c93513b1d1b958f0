// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's program of two translation units, each of which includes all of Phyllo: it links only if
// every function of the library may be defined twice.

#include "perceptron.hpp"

#include <cstdio>
#include <string_view>

#ifdef WITH_MPI
#include <phyllo/comm/mpi.hpp>
#endif

static_assert(Perceptron::parameter_count == 4 * 8 + 8 + 8 * 2 + 2);
static_assert(Perceptron::output == phyllo::Shape{2});

#ifdef WITH_ONEDNN
struct Wide : phyllo::Network<phyllo::Input<512>, phyllo::Linear<512>, phyllo::ReLU> {};
#endif

#ifdef WITH_HDF5
#include <phyllo/data/hdf5_source.hpp>

bool refuses_absent_file() {
  try {
    phyllo::Hdf5Source const source("absent.h5", {"x"});
  } catch (phyllo::Error const&) {
    return true;
  }
  return false;
}
#endif

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::string_view const plan = phyllo::explain<Perceptron>();
  std::printf("%s\n", plan.data());
  bool const same =
      plan == plan_elsewhere() && parameters_elsewhere() == Perceptron::parameter_count;
#ifdef WITH_ONEDNN
  if (std::string_view(phyllo::explain<Wide>()).find("onednn") == std::string_view::npos) return 1;
#endif
#ifdef WITH_HDF5
  if (!refuses_absent_file()) return 1;
#endif
  return same ? 0 : 1;
}
