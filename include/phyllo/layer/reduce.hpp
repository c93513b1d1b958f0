// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/axis.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/op/reduction.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Sum, mean or maximum over axes of each sample, which remain with an extent of one, as with
/// torch's keepdim: y = sum, mean or maximum of x over all coordinates of the axes. Write Sum, Mean
/// or Max in a network; Flatten behind it drops the axes.
///
/// shape    (N, C, S...) -> the same with ones in place of the axes' extents
/// options  Over... = Axis::channels, width (length of a sequence), height, depth; each once
/// errors   compile: no axis, an axis twice, or an input without one of them
/// numerics sums in Precision::accumulate, of sums of rows of the width; a maximum passes a
///          not-a-number on
/// cost     one read of the input; backward one write, of Max also a read
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <op::ReductionKind Kind, Axis... Over> struct Reduction {
  static constexpr Role role = Role::reduce;
  static constexpr op::ReductionKind kind = Kind;
  static constexpr bool valid_options = [] {
    int times[4] = {};
    (++times[int(Over)], ...);
    return sizeof...(Over) > 0 && times[0] <= 1 && times[1] <= 1 && times[2] <= 1 && times[3] <= 1;
  }();

  static constexpr bool accepts(Shape s) {
    return valid_options && (detail::has_axis(s, Over) && ...);
  }
  static constexpr Shape expected(Shape s) {
    ((s = detail::with_axis(s, Over)), ...);
    return s;
  }
  static constexpr Shape output(Shape s) {
    ((detail::extent(s, Over) = 1), ...);
    return s;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<valid_options, Where>,
                  "Sum, Mean, Max: name at least one axis, each once: Axis::channels, width or "
                  "length, height, depth.");
    static_assert(
        detail::met<!valid_options, Where>,
        "Sum, Mean, Max: the input lacks one of the axes. Axis::width and length need one "
        "spatial extent, height two, depth three.");
  };
};

/// Sum over axes; options, numerics and cost as Reduction's.
///
/// shape    (N, C, S...) -> the same with ones in place of the axes' extents
/// errors   compile: no axis, an axis twice, or an input without one of them
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <Axis... Over> struct Sum : Reduction<op::ReductionKind::sum, Over...> {
  static constexpr char const* name = "sum";
};

/// Mean over axes; options, numerics and cost as Reduction's.
///
/// shape    (N, C, S...) -> the same with ones in place of the axes' extents
/// errors   compile: no axis, an axis twice, or an input without one of them
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <Axis... Over> struct Mean : Reduction<op::ReductionKind::mean, Over...> {
  static constexpr char const* name = "mean";
};

/// Maximum over axes; options and cost as Reduction's.
///
/// shape    (N, C, S...) -> the same with ones in place of the axes' extents
/// errors   compile: no axis, an axis twice, or an input without one of them
/// numerics the gradient is divided evenly among equal maxima, as torch.amax divides it; MaxPool2d
///          and AdaptiveMaxPool2d give it to the first
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <Axis... Over> struct Max : Reduction<op::ReductionKind::maximum, Over...> {
  static constexpr char const* name = "max";
};

}  // namespace phyllo::inline PHYLLO_ISA
