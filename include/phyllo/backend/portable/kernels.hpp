// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/backend/is_processor.hpp>
#include <phyllo/backend/team_policy.hpp>
#include <phyllo/core/divisor.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/window.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Kernels of one op in Kokkos only. Every result is computed by one work item in a fixed order,
/// and sums over a batch by a fixed number of blocks: the bits do not depend on the number of
/// threads.
template <class Op, class Precision> struct Kernels;

/// Outputs of a contraction that one work item keeps in registers: one 512-bit vector of floats.
inline constexpr int block = 16;

PHYLLO_INLINE constexpr long blocks_of(long count, long size) { return (count + size - 1) / size; }

/// `count` work items of a named functor, asynchronously on the instance.
template <class Space, class Functor>
void launch(Space const& exec, std::string const& label, long count, Functor const& functor) {
  static_assert(sizeof(Functor) <= 512, "portable: a functor must be smaller than 512 bytes.");
  if (count == 0) return;
  using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>;
  Kokkos::parallel_for(launch_label(label), by_argument(Range(exec, 0, count)), functor);
}

/// On a device, rows of no fewer channels are shared by the threads of a team.
inline constexpr int shared_channels = 64;

/// One team for each row of `channels` numbers, of a device's threads about four numbers each.
template <class Space, class Functor>
void launch_teams(Space const& exec, std::string const& label, long rows, int channels,
                  Functor const& functor) {
  static_assert(sizeof(Functor) <= 512, "portable: a functor must be smaller than 512 bytes.");
  if (rows == 0) return;
  int const lanes = is_processor<Space> ? 1 : 32;
  int const threads = is_processor<Space> ? 1 : channels >= 4096 ? 8 : channels >= 512 ? 4 : 1;
  Kokkos::parallel_for(launch_label(label), team_policy(exec, int(rows), threads, lanes), functor);
}

/// Depth, height and width of a position.
struct Place {
  int at[3] = {0, 0, 0};
  PHYLLO_FUNCTION Place(Shape const& s, int position)
      : at{position / s.spatial[2] / s.spatial[1], position / s.spatial[2] % s.spatial[1],
           position % s.spatial[2]} {}
};

/// Half-open ranges of taps, or of output positions, in three dimensions.
struct Box {
  int first[3] = {0, 0, 0};
  int last[3] = {0, 0, 0};
};

/// Taps of the window at output position q that lie inside the input.
PHYLLO_INLINE Box taps_inside(Window const& w, Shape const& input, int const (&q)[3]) {
  Box box;
  for (int d = 0; d < 3; ++d) {
    int const origin = q[d] * w.stride[d] - w.padding[d];
    box.first[d] = origin < 0 ? -origin : 0;
    int const room = input.spatial[d] - origin;
    box.last[d] = room < w.size[d] ? room : w.size[d];
  }
  return box;
}

/// Quotients by the strides of a window.
struct StrideDivisors {
  Divisor of[3];
  explicit StrideDivisors(Window const& w) {
    for (int d = 0; d < 3; ++d) of[d] = Divisor(unsigned(w.stride[d]));
  }
};

/// Output positions whose window covers the input position `at`; stride: the window's.
PHYLLO_INLINE Box outputs_over(Window const& w, StrideDivisors const& stride, Shape const& output,
                               int const (&at)[3]) {
  Box box;
  for (int d = 0; d < 3; ++d) {
    int const reach = at[d] + w.padding[d];
    int const from = reach - w.size[d] + 1;  // at least one tap back
    box.first[d] = from <= 0 ? 0 : int(stride.of[d].quotient(unsigned(from + w.stride[d] - 1)));
    int const to = int(stride.of[d].quotient(unsigned(reach))) + 1;
    box.last[d] = to < output.spatial[d] ? to : output.spatial[d];
  }
  return box;
}

/// Outputs whose tap t stands inside the input.
PHYLLO_INLINE Box outputs_with_tap(Window const& w, Shape const& input, Shape const& output,
                                   int const (&t)[3]) {
  Box box;
  for (int d = 0; d < 3; ++d) {
    int const shift = t[d] - w.padding[d];  // p = q stride + shift
    box.first[d] = shift >= 0 ? 0 : (-shift + w.stride[d] - 1) / w.stride[d];
    int const room = input.spatial[d] - 1 - shift;
    int const to = room < 0 ? 0 : room / w.stride[d] + 1;
    box.last[d] = to < output.spatial[d] ? to : output.spatial[d];
  }
  return box;
}

}  // namespace phyllo::inline PHYLLO_ISA::portable
