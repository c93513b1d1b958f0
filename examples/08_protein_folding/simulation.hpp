// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "folding.hpp"

#include <mpi.h>

#include <algorithm>
#include <string>

/// Contact maps of all chains at all recorded times, chain by chain within a time.
struct Trajectory {
  Kokkos::View<float****, Kokkos::LayoutRight, Space> maps;  // (samples, 1, beads, beads)
  Kokkos::View<float*, Space> native_fraction;               // (samples)
};

/// Simulates `chains` chains and records `frames` contact maps of each, `steps` steps apart. Every
/// rank simulates its share and receives all maps: the same numbers on any number of ranks.
inline Trajectory simulate(Space const& exec, int chains, int frames, int steps, std::uint64_t seed,
                           int rank, int ranks) {
  int const first = int(long(chains) * rank / ranks);
  int const own = int(long(chains) * (rank + 1) / ranks) - first;
  NativeState const native;
  Kokkos::View<double***, Space> x("x", std::size_t(own), beads, 3), v("v", x.extent(0), beads, 3);
  auto const start = Kokkos::create_mirror_view(x);
  std::vector<double> const folded = native_positions();
  for (int c = 0; c < own; ++c)
    for (int i = 0; i < beads; ++i)
      for (int d = 0; d < 3; ++d) start(c, i, d) = folded[std::size_t(3 * i + d)];
  Kokkos::deep_copy(exec, x, start);

  std::size_t const samples = std::size_t(chains) * std::size_t(frames);
  Trajectory all{{"maps", samples, 1, beads, beads}, {"native fraction", samples}};
  Kokkos::RangePolicy<Space> const each(exec, 0, own);
  for (int f = 0; f < frames; ++f) {
    FoldChains const fold{x, v, native.distance, long(f) * steps, steps, first, seed};
    Kokkos::parallel_for("fold chains", each, fold);
    MapContacts const map{
        x, native.distance, all.maps, all.native_fraction, f * chains + first, native.contacts};
    Kokkos::parallel_for("map contacts", each, map);
  }
  // What other ranks have recorded is zero here.
  auto const maps = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all.maps);
  auto const fraction =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all.native_fraction);
  MPI_Allreduce(MPI_IN_PLACE, maps.data(), int(maps.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, fraction.data(), int(fraction.size()), MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
  Kokkos::deep_copy(all.maps, maps);
  Kokkos::deep_copy(all.native_fraction, fraction);
  return all;
}
