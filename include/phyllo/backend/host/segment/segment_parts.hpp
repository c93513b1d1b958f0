// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/register_block.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Samples of a tile that begins with images, whose values fill a cache with few.
template <class T> inline constexpr int image_rows = lanes<T> > 16 ? lanes<T> : 16;

/// An op whose values are numbered from another one on.
template <class Op, int By> struct Renumbered {
  using type = Op;
};
template <int Count, int Earlier, class Chain, int By>
struct Renumbered<op::Sum<Count, Earlier, Chain>, By> {
  using type = op::Sum<Count, Earlier - By, Chain>;
};

/// A segment cut into its convolutions and poolings, which come first, and its layers on rows of
/// channels.
template <class Segment> struct SegmentParts;
template <class... D> struct SegmentParts<op::Segment<D...>> {
  static constexpr int images = (int(!op::is_on_rows<D>) + ... + 0);
  static constexpr int layers = sizeof...(D);
  /// Whether there are no rows of channels: the result is images.
  static constexpr bool is_all_images = images == layers;

  template <int First, class Sequence> struct Run;
  template <int First, int... I> struct Run<First, std::integer_sequence<int, I...>> {
    using list = TypeList<At<TypeList<D...>, std::size_t(First + I)>...>;
    using segment = op::Segment<
        typename Renumbered<At<TypeList<D...>, std::size_t(First + I)>, First>::type...>;
  };
  using Images = typename Run<0, std::make_integer_sequence<int, images>>::list;
  using Rows = typename Run<images, std::make_integer_sequence<int, layers - images>>::segment;

  /// Whether there are Linear layers only.
  static constexpr bool is_all_dense = (op::is_dense<D> && ...);
  /// Samples of a tile.
  template <class T> static constexpr int rows = images == 0 ? tile_rows : image_rows<T>;
};

}  // namespace phyllo::inline PHYLLO_ISA::host
