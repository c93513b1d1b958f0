// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/rules.hpp>
#include <phyllo/op/segment.hpp>
#include <phyllo/policy/determinism.hpp>
#include <phyllo/policy/precision.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// The smallest segment that begins with an image.
using SmallestImageSegment = op::Segment<
    op::Convolution<op::ImageExtents{}, op::ImageExtents{}, Window{}, false, op::Chain<>>,
    op::Dense<1, 1, false, op::Chain<>>>;

// How far a list of backends can follow the planner.
template <class List> inline constexpr FusionLevel deepest_fusion = FusionLevel::segment;
template <class... B>
  requires(HasKernel<typename B::template kernels<SmallestImageSegment, Full<float>>> || ...)
inline constexpr FusionLevel deepest_fusion<Backends<B...>> = FusionLevel::tile;

}  // namespace detail

/// Where and how a model runs.
///
/// options  Space: a Kokkos execution space · BackendList: backends in order of preference · Level:
///          the largest scale of fusion, limited to what a backend of the list can run · Bits:
///          Fastest, or Reproducible for results that do not depend on the number of threads,
///          without the backends that cannot guarantee it
template <class Space = Kokkos::DefaultExecutionSpace,
          class BackendList = typename DefaultBackends<Space>::type,
          FusionLevel Level = FusionLevel::tile, class Determinism = Fastest>
struct Execution {
  using space = Space;
  using memory_space = typename Space::memory_space;
  static constexpr int shards = Determinism::shards;
  using backends = std::conditional_t<(shards > 0), ReproducibleBackends<BackendList>, BackendList>;
  static constexpr FusionLevel fusion =
      Level < detail::deepest_fusion<backends> ? Level : detail::deepest_fusion<backends>;
};

}  // namespace phyllo::inline PHYLLO_ISA
