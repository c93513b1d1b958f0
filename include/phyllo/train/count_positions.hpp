// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>
#include <phyllo/backend/team_policy.hpp>
#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/op/loss.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// The share of a sample's positions whose class index the loss does not ignore: one work item, or
/// one team of a device, for each sample.
template <class A, class Space> struct CountPositions {
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  static constexpr int threads = 8, lanes = 32;

  ExternalTensor targets;
  Shape shape;  // of the outputs
  long long ignored = 0;
  A* shares = nullptr;  // (batch)

  KOKKOS_FUNCTION void operator()(int n) const {
    int count = 0;
    for (int p = 0; p < shape.positions(); ++p) count += counts(n, p);
    shares[n] = A(count) / A(shape.positions());
  }
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const n = member.league_rank();
    int total = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(member, shape.positions()),
        [&](int p, int& count) { count += counts(n, p); }, total);
    Kokkos::single(Kokkos::PerTeam(member), [&] { shares[n] = A(total) / A(shape.positions()); });
  }

 private:
  KOKKOS_FUNCTION int counts(int n, int p) const {
    int const height = shape.spatial[1], width = shape.spatial[2], row = p / width;
    return targets.template read<long long>(n, 0, row / height, row % height, p % width) != ignored;
  }
};

/// Fills `shares` for `batch` samples, asynchronously on the instance.
template <class A, class Space>
void launch_count(Space const& exec, std::string const& label, int batch,
                  CountPositions<A, Space> const& count) {
  if constexpr (is_processor<Space>)
    Kokkos::parallel_for(launch_label(label), Kokkos::RangePolicy<Space>(exec, 0, batch), count);
  else
    Kokkos::parallel_for(launch_label(label), team_policy(exec, batch, count.threads, count.lanes),
                         count);
}

/// Their sum in the order of samples, in place of the number of samples.
template <class A> struct SumShares {
  A const* shares = nullptr;  // (batch)
  int batch = 0;
  A* sums = nullptr;  // op::Tail
  KOKKOS_FUNCTION void operator()(int) const {
    A sum = 0;
    for (int n = 0; n < batch; ++n) sum += shares[n];
    sums[op::Tail::samples] = sum;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
