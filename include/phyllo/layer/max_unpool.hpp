// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/pooling.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Values of pooled windows, back at the places of the maxima of the saved value that a MaxPool
/// with the same options has pooled, and zeros elsewhere. Write Combine<MaxUnpool2d<2>, tag> or its
/// relatives in a network: Save<tag>, MaxPool2d<2>, ..., Combine<MaxUnpool2d<2>, tag>.
///
/// shape    (N, C, S'...), saved (N, C, S...) -> (N, C, S...)
/// options  Stride<size>, at least the size · Padding<0> · CeilMode
/// errors   compile: without Combine; a stride below the size, so that windows overlap; a value
///          that has other extents than the pooled saved one; a wrong option
/// numerics the maximum is the first of equal ones; a not-a-number is larger than any number. The
///          saved value has no gradient by this layer.
/// cost     one read of the saved value for each tap; no parameters, no indices in memory
/// source   Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks", ECCV 2014,
///          §2.1; Badrinarayanan, Kendall and Cipolla, "SegNet", IEEE TPAMI 39 (2017) 2481
template <int Rank, int Size, class... Options> struct MaxUnpool {
  using Pooled = Pooling<Rank, op::PoolingKind::maximum, Size, Options...>;
  static constexpr Role role = Role::unpooling;
  static constexpr int operands = 2;  // for Combine
  static constexpr Window window = Pooled::window;
  static constexpr bool overlaps = [] {
    for (int d = 3 - Rank; d < 3; ++d)
      if (window.stride[d] < window.size[d]) return true;
    return false;
  }();

  static constexpr bool accepts(Shape s) {
    return Pooled::valid_options && !overlaps && s.rank == Rank;
  }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<Pooled::valid_options, Where>,
        "MaxUnpool: the options are those of the MaxPool: Stride, Padding and CeilMode, each once; "
        "window and stride must be positive, padding from 0 to half the window.");
    static_assert(detail::met < !Pooled::valid_options || !overlaps, Where >,
                  "MaxUnpool: expected a stride of at least the window, so that every maximum is "
                  "that of one window.");
    static_assert(detail::met < !Pooled::valid_options || overlaps, Where >,
                  "MaxUnpool: expected Combine<MaxUnpool..., tag>, and a value with the extents of "
                  "the saved one behind a MaxPool with the same options.");
  };
};

/// MaxPool1d's maxima back at their places: y_p = x_q where p is the place of the maximum of
/// window q of the saved value, 0 elsewhere; options, numerics and cost as MaxUnpool's.
///
/// shape    (N, C, L'), saved (N, C, L) -> (N, C, L)
/// options  Stride<Size>, at least Size · Padding<0> · CeilMode
/// errors   compile: as MaxUnpool
/// source   Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks", ECCV 2014
template <int Size, class... Options> struct MaxUnpool1d : MaxUnpool<1, Size, Options...> {
  static constexpr char const* name = "max_unpool1d";
};

/// MaxPool2d's maxima back at their places: y_p = x_q where p is the place of the maximum of
/// window q of the saved value, 0 elsewhere; options, numerics and cost as MaxUnpool's.
///
/// shape    (N, C, H', W'), saved (N, C, H, W) -> (N, C, H, W)
/// options  Stride<Size>, at least Size · Padding<0> · CeilMode
/// errors   compile: as MaxUnpool
/// source   Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks", ECCV 2014
template <int Size, class... Options> struct MaxUnpool2d : MaxUnpool<2, Size, Options...> {
  static constexpr char const* name = "max_unpool2d";
};

/// MaxPool3d's maxima back at their places: y_p = x_q where p is the place of the maximum of
/// window q of the saved value, 0 elsewhere; options, numerics and cost as MaxUnpool's.
///
/// shape    (N, C, D', H', W'), saved (N, C, D, H, W) -> (N, C, D, H, W)
/// options  Stride<Size>, at least Size · Padding<0> · CeilMode
/// errors   compile: as MaxUnpool
/// source   Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks", ECCV 2014
template <int Size, class... Options> struct MaxUnpool3d : MaxUnpool<3, Size, Options...> {
  static constexpr char const* name = "max_unpool3d";
};

}  // namespace phyllo::inline PHYLLO_ISA
