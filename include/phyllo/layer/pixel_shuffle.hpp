// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// Positions of a block of Factor along every spatial dimension in use; saturates.
constexpr int block_positions(int factor, int rank) {
  long block = 1;
  for (int d = 0; d < rank && block < 1L << 31; ++d) block *= factor;
  return block >= 1L << 31 ? 2147483647 : int(block);
}

}  // namespace detail

/// Channels into positions: each group of Factor^rank channels becomes a block of positions.
///
/// shape    (N, C Factor^rank, S...) -> (N, C, Factor S...)
/// errors   compile: an input without spatial extents; channels that Factor^rank does not divide
/// numerics exact
/// cost     one read, one write
/// source   Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient
///          Sub-Pixel Convolutional Neural Network", CVPR 2016; torch.nn.PixelShuffle
template <int Factor> struct PixelShuffle {
  static constexpr char const* name = "pixel_shuffle";
  static constexpr Role role = Role::move;

  static constexpr bool accepts(Shape s) {
    return Factor > 0 && s.rank > 0 && s.channels % detail::block_positions(Factor, s.rank) == 0;
  }
  static constexpr Shape expected(Shape s) {
    if (Factor < 1) return s;
    if (s.rank == 0) s.rank = 2;
    int const block = detail::block_positions(Factor, s.rank);
    return s.with_channels(s.channels <= block ? block : (s.channels - 1) / block * block + block);
  }
  static constexpr Shape output(Shape s) {
    s.channels /= detail::block_positions(Factor, s.rank);
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] *= Factor;
    return s;
  }
  static constexpr MoveMap map(Shape s) {
    MoveMap m{};
    m.source_size = m.target_size = s.size();
    int stride = s.size(), block = detail::block_positions(Factor, s.rank);
    int const channels = s.channels / block;
    for (int d = 0, inside = block; d < 3; ++d) {
      m.append(s.spatial[d], stride /= s.spatial[d]);
      if (d >= 3 - s.rank) m.append(Factor, inside /= Factor);
    }
    m.append(channels, block);
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "PixelShuffle: expected a positive factor, spatial extents, and channels that "
                  "Factor^(spatial dimensions) divides. Change the layer before it.");
  };
};

/// Positions into channels: the inverse of PixelShuffle.
///
/// shape    (N, C, Factor S...) -> (N, C Factor^rank, S...)
/// errors   compile: an input without spatial extents; extents that Factor does not divide
/// numerics exact
/// cost     one read, one write
/// source   torch.nn.PixelUnshuffle
template <int Factor> struct PixelUnshuffle {
  static constexpr char const* name = "pixel_unshuffle";
  static constexpr Role role = Role::move;

  static constexpr bool accepts(Shape s) {
    if (Factor < 1 || s.rank == 0) return false;
    for (int d = 3 - s.rank; d < 3; ++d)
      if (s.spatial[d] % Factor != 0) return false;
    return true;
  }
  static constexpr Shape expected(Shape s) {
    if (Factor < 1) return s;
    if (s.rank == 0) s.rank = 2;
    for (int d = 3 - s.rank; d < 3; ++d)
      s.spatial[d] =
          s.spatial[d] <= Factor ? Factor : (s.spatial[d] - 1) / Factor * Factor + Factor;
    return s;
  }
  static constexpr Shape output(Shape s) {
    s.channels *= detail::block_positions(Factor, s.rank);
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] /= Factor;
    return s;
  }
  static constexpr MoveMap map(Shape s) {
    MoveMap m{};
    m.source_size = m.target_size = s.size();
    int stride[3] = {}, from = s.size();
    for (int d = 0; d < 3; ++d) stride[d] = from /= s.spatial[d];
    for (int d = 0; d < 3; ++d) {
      int const factor = d >= 3 - s.rank ? Factor : 1;
      m.append(s.spatial[d] / factor, stride[d] * factor);
    }
    m.append(s.channels, 1);
    for (int d = 3 - s.rank; d < 3; ++d) m.append(Factor, stride[d]);
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "PixelUnshuffle: expected a positive factor and spatial extents that it divides. "
                  "Put Pad before it, or change the input.");
  };
};

/// Channels of groups in turn: channel k of group g becomes channel k Groups + g.
///
/// shape    any -> the same
/// errors   compile: channels that Groups does not divide
/// numerics exact
/// cost     one read, one write
/// source   Zhang et al., "ShuffleNet", CVPR 2018; torch.nn.ChannelShuffle
template <int Groups> struct ChannelShuffle {
  static constexpr char const* name = "channel_shuffle";
  static constexpr Role role = Role::move;

  static constexpr bool accepts(Shape s) { return Groups > 0 && s.channels % Groups == 0; }
  static constexpr Shape expected(Shape s) {
    return Groups < 1 ? s : s.with_channels((s.channels + Groups - 1) / Groups * Groups);
  }
  static constexpr Shape output(Shape s) { return s; }
  static constexpr MoveMap map(Shape s) {
    MoveMap m{};
    m.source_size = m.target_size = s.size();
    m.append(s.positions(), s.channels);
    m.append(s.channels / Groups, 1);
    m.append(Groups, s.channels / Groups);
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "ChannelShuffle: the number of groups must be positive and divide the channels. "
                  "Change either.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
