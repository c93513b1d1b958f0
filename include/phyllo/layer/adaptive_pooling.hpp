// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/op/reduction.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean or maximum over windows that divide each spatial extent into Out parts: y[n, c, o] = mean
/// or maximum of x[n, c, p] over the positions p of window o. Write AdaptiveAveragePool2d,
/// AdaptiveMaxPool2d or their relatives in a network.
///
/// shape    (N, C, S...) -> (N, C, Out...); window o of an extent of s begins at floor(o s / Out)
///          and ends before ceil((o + 1) s / Out), as torch's
/// options  Out: one number, or one for each spatial dimension
/// errors   compile: another spatial rank; extents that are not positive
/// numerics sums in Precision::accumulate; a maximum passes a not-a-number on, and its gradient
///          goes to the first of equal numbers
/// cost     one read of the input for each window over it; no parameters
/// source   He, Zhang, Ren and Sun, "Spatial Pyramid Pooling", ECCV 2014
template <int Rank, op::ReductionKind Kind, int... Out> struct AdaptivePooling {
  static constexpr Role role = Role::reduce;
  static constexpr op::ReductionKind kind = Kind;
  static constexpr detail::Extents out = detail::spread<Rank, Out...>(1);
  static constexpr bool valid_options = out.value[0] > 0 && out.value[1] > 0 && out.value[2] > 0;

  static constexpr bool accepts(Shape s) { return valid_options && s.rank == Rank; }
  static constexpr Shape expected(Shape s) {
    for (int d = 0; d < 3 - Rank; ++d) s.spatial[d] = 1;
    s.rank = Rank;
    return s;
  }
  static constexpr Shape output(Shape s) {
    for (int d = 0; d < 3; ++d) s.spatial[d] = out.value[d];
    return s;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<valid_options, Where>,
        "AdaptivePool: the extents of the result are one positive number, or one for each "
        "spatial dimension.");
    static_assert(
        detail::met<!valid_options, Where>,
        "AdaptivePool: expected one spatial extent for each dimension in its name. Use the "
        "layer of the input's rank, or put it before Flatten.");
  };
};

/// Mean over windows that divide 1 spatial dimension; rule, numerics and cost as AdaptivePooling's.
///
/// shape    (N, C, L) -> (N, C, L')
/// errors   compile: another spatial rank; extents that are not positive
/// source   He, Zhang, Ren and Sun, "Spatial Pyramid Pooling", ECCV 2014
template <int... Out>
struct AdaptiveAveragePool1d : AdaptivePooling<1, op::ReductionKind::mean, Out...> {
  static constexpr char const* name = "adaptive_average_pool1d";
};

/// Mean over windows that divide 2 spatial dimensions; rule, numerics and cost as
/// AdaptivePooling's.
///
/// shape    (N, C, H, W) -> (N, C, H', W')
/// errors   compile: another spatial rank; extents that are not positive
/// source   He, Zhang, Ren and Sun, "Spatial Pyramid Pooling", ECCV 2014
template <int... Out>
struct AdaptiveAveragePool2d : AdaptivePooling<2, op::ReductionKind::mean, Out...> {
  static constexpr char const* name = "adaptive_average_pool2d";
};

/// Mean over windows that divide 3 spatial dimensions; rule, numerics and cost as
/// AdaptivePooling's.
///
/// shape    (N, C, D, H, W) -> (N, C, D', H', W')
/// errors   compile: another spatial rank; extents that are not positive
/// source   He, Zhang, Ren and Sun, "Spatial Pyramid Pooling", ECCV 2014
template <int... Out>
struct AdaptiveAveragePool3d : AdaptivePooling<3, op::ReductionKind::mean, Out...> {
  static constexpr char const* name = "adaptive_average_pool3d";
};

/// Maximum over windows that divide 1 spatial dimension; rule, numerics and cost as
/// AdaptivePooling's.
///
/// shape    (N, C, L) -> (N, C, L')
/// errors   compile: another spatial rank; extents that are not positive
/// source   He, Zhang, Ren and Sun, "Spatial Pyramid Pooling", ECCV 2014
template <int... Out>
struct AdaptiveMaxPool1d : AdaptivePooling<1, op::ReductionKind::first_maximum, Out...> {
  static constexpr char const* name = "adaptive_max_pool1d";
};

/// Maximum over windows that divide 2 spatial dimensions; rule, numerics and cost as
/// AdaptivePooling's.
///
/// shape    (N, C, H, W) -> (N, C, H', W')
/// errors   compile: another spatial rank; extents that are not positive
/// source   He, Zhang, Ren and Sun, "Spatial Pyramid Pooling", ECCV 2014
template <int... Out>
struct AdaptiveMaxPool2d : AdaptivePooling<2, op::ReductionKind::first_maximum, Out...> {
  static constexpr char const* name = "adaptive_max_pool2d";
};

/// Maximum over windows that divide 3 spatial dimensions; rule, numerics and cost as
/// AdaptivePooling's.
///
/// shape    (N, C, D, H, W) -> (N, C, D', H', W')
/// errors   compile: another spatial rank; extents that are not positive
/// source   He, Zhang, Ren and Sun, "Spatial Pyramid Pooling", ECCV 2014
template <int... Out>
struct AdaptiveMaxPool3d : AdaptivePooling<3, op::ReductionKind::first_maximum, Out...> {
  static constexpr char const* name = "adaptive_max_pool3d";
};

}  // namespace phyllo::inline PHYLLO_ISA
