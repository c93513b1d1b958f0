// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/element_type.hpp>
#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/shape.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// A slot (N, channels), row-major, as a tensor.
template <class S> ExternalTensor rows_of(S const* slot, int channels) {
  ExternalTensor t;
  t.data[0] = const_cast<S*>(slot);
  t.type = std::is_same_v<S, double>  ? ElementType::f64
           : std::is_same_v<S, float> ? ElementType::f32
           : std::is_same_v<S, bf16>  ? ElementType::bf16
                                      : ElementType::f16;
  t.sample_stride = channels;
  t.channel_stride = 1;
  return t;
}

/// A slot (N, spatial..., channels) of images, as a tensor.
template <class S> ExternalTensor images_of(S const* slot, Shape const& s) {
  ExternalTensor t = rows_of(slot, s.size());
  std::ptrdiff_t stride = s.channels;
  for (int d = 2; d >= 0; --d) {
    t.spatial_stride[d] = stride;
    stride *= s.spatial[d];
  }
  return t;
}

/// Rows of the caller's tensor into a tile and back, with the element type and the layout chosen
/// once a tile instead of once a number.
///
/// shape    tensor (N, channels, without positions) <-> tile (rows, stride); numbers of a tile
///          beyond `channels` are left alone
/// numerics as ExternalTensor::read and write
template <class T> class TileTransfer {
 public:
  static void load(ExternalTensor const& from, long first, int rows, int channels, T* tile,
                   int stride) {
    switch (from.type) {
      case ElementType::f64:
        return load_as<double>(from, first, rows, channels, tile, stride);
      case ElementType::f32:
        return load_as<float>(from, first, rows, channels, tile, stride);
      case ElementType::bf16:
        return load_as<bf16>(from, first, rows, channels, tile, stride);
      case ElementType::f16:
        return load_as<fp16>(from, first, rows, channels, tile, stride);
      case ElementType::i64:
        return load_as<std::int64_t>(from, first, rows, channels, tile, stride);
      case ElementType::i32:
        return load_as<std::int32_t>(from, first, rows, channels, tile, stride);
      default:
        return load_as<std::uint8_t>(from, first, rows, channels, tile, stride);
    }
  }

  /// The tensor's numbers where its rows are lines of a tile; nullptr: they have to be copied.
  static T* in_place(ExternalTensor const& t, int channels, int stride) {
    bool const same = t.type == rows_of(static_cast<T const*>(nullptr), channels).type;
    return same && t.variables == 0 && t.channel_stride == 1 && t.sample_stride == channels &&
                   stride == channels
               ? static_cast<T*>(t.data[0])
               : nullptr;
  }
  /// Whether rows of so many numbers share memory.
  static bool overlap(T const* a, long numbers_of_a, T const* b, long numbers_of_b) {
    auto const at = [](T const* p) { return reinterpret_cast<std::uintptr_t>(p); };
    return a != nullptr && b != nullptr && at(a) < at(b + numbers_of_b) &&
           at(b) < at(a + numbers_of_a);
  }

  /// Whether a sample's positions stand one behind the other, `spatial_stride[2]` apart.
  static bool is_one_line(ExternalTensor const& t, Shape const& s) {
    std::ptrdiff_t const* const step = t.spatial_stride;
    return (s.spatial[1] == 1 || step[1] == s.spatial[2] * step[2]) &&
           (s.spatial[0] == 1 || step[0] == s.spatial[1] * step[1]);
  }

  /// Positions first .. first + count - 1 of sample n into a tile (count, channels).
  static void load_positions(ExternalTensor const& from, long n, Shape const& s, int first,
                             int count, int channels, T* tile) {
    std::ptrdiff_t const* const step = from.spatial_stride;
    int const width = s.spatial[2], height = s.spatial[1];
    bool const one_line = is_one_line(from, s);
    // A line's positions are the samples of this tensor.
    ExternalTensor line = from;
    line.sample_stride = step[2];
    int const length = one_line ? s.positions() : width;
    for (int done = 0; done < count;) {
      int const p = first + done, at = p % length,
                rows = length - at < count - done ? length - at : count - done;
      int const h = one_line ? 0 : p / width % height, d = one_line ? 0 : p / width / height;
      std::ptrdiff_t const bytes =
          (n * from.sample_stride + d * step[0] + h * step[1]) * (element_bits(from.type) / 8);
      for (int k = 0; k < (from.variables == 0 ? 1 : columns(from, from.variables)); ++k)
        line.data[k] = static_cast<char*>(from.data[k]) + bytes;
      load(line, at, rows, channels, tile + long(done) * channels, channels);
      done += rows;
    }
  }

  static void store(T const* tile, int stride, long first, int rows, int channels,
                    ExternalTensor const& to) {
    switch (to.type) {
      case ElementType::f64:
        return store_as<double>(tile, stride, first, rows, channels, to);
      case ElementType::f32:
        return store_as<float>(tile, stride, first, rows, channels, to);
      case ElementType::bf16:
        return store_as<bf16>(tile, stride, first, rows, channels, to);
      default:
        return store_as<fp16>(tile, stride, first, rows, channels, to);
    }
  }

 private:
  using Number = std::conditional_t<sizeof(T) == 2, float, T>;  // what T is computed in

  template <class To, class From> PHYLLO_INLINE_ON_HOST static To converted(From x) {
    if constexpr (std::is_same_v<To, From>)
      return x;
    else
      return To(Number(x));
  }
  // Where channel c of the first sample stands.
  template <class E> static E* column(ExternalTensor const& t, long first, int c) {
    return static_cast<E*>(t.base(c)) + t.offset(first, c, 0, 0, 0);
  }
  // A gathered tensor has one variable a channel; the compiler is told how many at most.
  static int columns(ExternalTensor const& t, int channels) {
    if (t.variables == 0) return channels;
    return channels < ExternalTensor::max_variables ? channels : ExternalTensor::max_variables;
  }
  static bool by_rows(ExternalTensor const& t) { return t.variables == 0 && t.channel_stride == 1; }
  // Rows that stand one behind the other, in the tensor and in the tile.
  static bool is_one_row(ExternalTensor const& t, int channels, int stride) {
    return t.variables == 0 && (t.channel_stride == 1 || channels == 1) &&
           t.sample_stride == channels && stride == channels;
  }

  template <class E>
  static void load_as(ExternalTensor const& from, long first, int rows, int channels, T* tile,
                      int stride) {
    if (is_one_row(from, channels, stride)) {
      E const* const row = column<E>(from, first, 0);
      for (long i = 0; i < long(rows) * channels; ++i) tile[i] = converted<T>(row[i]);
    } else if (by_rows(from) && channels > 1) {
      for (int r = 0; r < rows; ++r) {
        E const* const row = column<E>(from, first, 0) + r * from.sample_stride;
        for (int c = 0; c < channels; ++c) tile[long(r) * stride + c] = converted<T>(row[c]);
      }
    } else {
      for (int c = 0; c < columns(from, channels); ++c) {
        E const* const of_channel = column<E>(from, first, c);
        for (int r = 0; r < rows; ++r)
          tile[long(r) * stride + c] = converted<T>(of_channel[r * from.sample_stride]);
      }
    }
  }
  template <class E>
  static void store_as(T const* tile, int stride, long first, int rows, int channels,
                       ExternalTensor const& to) {
    if (by_rows(to))
      for (int r = 0; r < rows; ++r) {
        E* const row = column<E>(to, first, 0) + r * to.sample_stride;
        for (int c = 0; c < channels; ++c) row[c] = converted<E>(tile[long(r) * stride + c]);
      }
    else
      for (int c = 0; c < columns(to, channels); ++c) {
        E* const of_channel = column<E>(to, first, c);
        for (int r = 0; r < rows; ++r)
          of_channel[r * to.sample_stride] = converted<E>(tile[long(r) * stride + c]);
      }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
