// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/core/convolution_shape.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels of a result at a time: their sums stay in registers.
inline constexpr int channel_vectors = 4;
template <class A> inline constexpr int channels_of_block = channel_vectors * lanes<A>;

/// Where kernels find the numbers of a vector of channels: side by side where they were packed, or
/// in the tensor as a permutation of a vector.
enum class ChannelReads { packed, permuted };

/// What a convolution of narrow groups reads, from the grid or from the image: `members` channels
/// of a group for each channel of the result.
template <bool ToImage> struct ChannelSource {
  ConvolutionShape shape;
  static constexpr int most_rows = 64;  // rows of taps

  Shape const& from() const { return ToImage ? shape.grid : shape.image; }
  Shape const& to() const { return ToImage ? shape.image : shape.grid; }
  int members() const { return ToImage ? shape.grid_channels() : shape.image_channels(); }
  int results() const { return ToImage ? shape.image_channels() : shape.grid_channels(); }
  int channel(int o, int m) const { return o / results() * members() + m; }
  long weight(int t, int m, int o) const {
    return ToImage ? (long(t) * results() + o % results()) * shape.grid.channels + channel(o, m)
                   : (long(t) * members() + m) * shape.grid.channels + o;
  }
  /// What coordinate r of the result reads under tap t; -1: nothing.
  int read(int d, int r, int t) const {
    return ToImage ? shape.window(d, r, t) : shape.read(d, shape.place(d, r, t));
  }
  /// First and last row that rows [begin, end) of the result read; last < first: none.
  struct Rows {
    int first, last;
    int count() const { return last < first ? 0 : last - first + 1; }
  };
  Rows rows(int begin, int end) const {
    Rows range{from().spatial[1], -1};
    for (int r = begin; r < end; ++r)
      for (int t = 0; t < shape.size[1]; ++t) {
        int const at = read(1, r, t);
        if (at < 0) continue;
        range.first = at < range.first ? at : range.first;
        range.last = at > range.last ? at : range.last;
      }
    return range;
  }
  /// How kernels read the numbers for a block of channels.
  template <class S, class A> ChannelReads reads(int first) const {
    constexpr bool loads = std::is_same_v<S, A> || (sizeof(S) == 2 && std::is_same_v<A, float>);
    int const results = this->results(), members = this->members();
    bool const whole =
        first + channels_of_block<A> <= to().channels || to().channels % lanes<A> == 0;
    bool const divides = results == members && results > 1 && lanes<A> % results == 0;
    return loads && whole && divides ? ChannelReads::permuted : ChannelReads::packed;
  }
};

/// Which lane of a vector of channels is member m of each lane's group.
///
/// shape    index(m) (lanes); groups of as many members as results, which divide a vector
template <class A> struct GroupPermutation {
  alignas(64) int lane[lanes<A>][lanes<A>];

  explicit GroupPermutation(int members) {
    for (int m = 0; m < members && m < lanes<A>; ++m)
      for (int l = 0; l < lanes<A>; ++l) lane[m][l] = l / members * members + m;
  }
  int const* index(int m) const { return lane[m]; }
};

/// Numbers of some rows of a source side by side as they are multiplied, in a thread's memory.
///
/// shape    (planes, rows, width, members, channels_of_block); zeros behind the last channel
template <bool ToImage, class S, class A> struct ChannelRows {
  static constexpr int block = channels_of_block<A>;
  ChannelSource<ToImage> const& source;
  A* memory = nullptr;
  typename ChannelSource<ToImage>::Rows range = {};

  long row_size() const { return long(source.from().spatial[2]) * source.members() * block; }
  long size(int rows) const { return source.shape.size[0] * rows * row_size(); }

  /// The planes that plane `result` reads, rows `range` of them, for channels from `first` on.
  void load(S const* sample, int result, int first, int count) {
    Shape const& from = source.from();
    for (int td = 0; td < source.shape.size[0]; ++td) {
      int const plane = source.read(0, result, td);
      if (plane < 0) continue;
      for (int r = range.first; r <= range.last; ++r)
        for (int w = 0; w < from.spatial[2]; ++w) {
          S const* const x =
              sample + ((long(plane) * from.spatial[1] + r) * from.spatial[2] + w) * from.channels;
          A* const to = at(td, r) + long(w) * source.members() * block;
          for (int m = 0; m < source.members(); ++m) one(x, to + m * block, first, count, m);
        }
    }
  }
  A* at(int td, int row) const {
    return memory + (long(td) * range.count() + row - range.first) * row_size();
  }

 private:
  void one(S const* x, A* to, int first, int count, int m) const {
    int const results = source.results(), members = source.members();
    int o = 0;
    if (results == 1 && members == 1) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < count; ++i) to[i] = number<A>(x + first, i);
      o = count;
    }
    // Whole groups of as many channels: the same number for each of a group's results.
    for (int c = source.channel(first, m); first % results == 0 && o + results <= count;
         c += members, o += results) {
      A const value = number<A>(x, c);
      for (int i = 0; i < results; ++i) to[o + i] = value;
    }
    for (; o < count; ++o) to[o] = number<A>(x, source.channel(first + o, m));
    for (; o < block; ++o) to[o] = A(0);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
