// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_place.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>
#include <phyllo/core/element_type.hpp>
#include <phyllo/core/external_tensor.hpp>

#include <cstdint>
#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// The contents of vector lanes without a sample.
enum class LanesBehind { last_sample, zeros };

/// Images of as many samples as a vector has lanes: from the caller's tensor into a thread's
/// memory, and on to rows of features as Linear layers read them, and back; and a gradient into a
/// slot.
///
/// shape    tensor (N, channels, spatial...) -> Place -> rows (lanes, features), channels-last
/// options  Behind: lanes without a sample repeat the last sample, or are zeros (gradients)
/// numerics as ExternalTensor::read. A layer may compute infinity from zeros, and infinity times a
///          gradient of zero is NaN; from a repeated sample it computes what it does for the sample
template <class T, ImagePlace Place, LanesBehind Behind = LanesBehind::last_sample>
class ImageTransfer {
  static constexpr int n = lanes<T>;

 public:
  static void load(ExternalTensor const& from, long first, int samples, T* image) {
    switch (from.type) {
      case ElementType::f64:
        return load_as<double>(from, first, samples, image);
      case ElementType::f32:
        return load_as<float>(from, first, samples, image);
      case ElementType::bf16:
        return load_as<bf16>(from, first, samples, image);
      case ElementType::f16:
        return load_as<fp16>(from, first, samples, image);
      case ElementType::u8:
        return load_as<std::uint8_t>(from, first, samples, image);
      default:
        for (int d = 0; d < Place.extent[0]; ++d)
          for (int h = 0; h < Place.extent[1]; ++h)
            for (int w = 0; w < Place.extent[2]; ++w)
              for (int c = 0; c < Place.channels; ++c) {
                T* const to = image + long(Place.at(d, h, w) + c) * n;
                for (int s = 0; s < n; ++s)
                  to[s] = is_zero(s, samples)
                              ? T(0)
                              : from.template read<T>(first + sample(s, samples), c, d, h, w);
              }
    }
  }

  /// A square that begins within the features reads and writes whole vectors: both memories are
  /// that much larger.
  static void to_rows(T const* image, T* rows, int stride) {
    static_assert(!Place.has_zeros());
    for (int f = 0; f < Place.features(); f += n)
      VectorSquare<T>::transpose(image + long(f) * n, n, rows + f, stride);
  }
  static void from_rows(T const* rows, int stride, T* image) {
    if constexpr (Place.has_zeros()) {
      std::memset(static_cast<void*>(image), 0, sizeof(T) * n * std::size_t(Place.size()));
      alignas(64) T transposed[n * n];
      for (int f = 0; f < Place.features(); f += n) {
        VectorSquare<T>::transpose(rows + f, stride, transposed, n);
        for (int k = 0; k < n && f + k < Place.features(); ++k)
          InstructionSet::store(image + long(place_of(f + k)) * n,
                                InstructionSet::load(transposed + k * n));
      }
    } else {
      for (int f = 0; f < Place.features(); f += n)
        VectorSquare<T>::transpose(rows + f, stride, image + long(f) * n, n);
    }
  }

  /// Samples [first, first + samples) of a slot, written or added to. A square that begins within
  /// the features reads whole vectors: the image's memory is that much larger.
  template <class S>
  static void store(T const* image, long first, int samples, S* slot, bool accumulate) {
    static_assert(!Place.has_zeros());
    alignas(64) T square[n * n];
    for (int f = 0; f < Place.features(); f += n) {
      VectorSquare<T>::transpose(image + long(f) * n, n, square, n);
      int const wide = Place.features() - f < n ? Place.features() - f : n;
      for (int s = 0; s < samples; ++s) {
        S* const to = slot + (first + s) * Place.features() + f;
        for (int k = 0; k < wide; ++k)
          to[k] = S(accumulate ? T(to[k]) + square[s * n + k] : square[s * n + k]);
      }
    }
  }

 private:
  static bool is_zero(int lane, int samples) {
    return Behind == LanesBehind::zeros && lane >= samples;
  }
  static int sample(int lane, int samples) { return lane < samples ? lane : samples - 1; }

  static constexpr int place_of(int feature) {
    int const q = feature / Place.channels;
    return Place.at(q / Place.extent[2] / Place.extent[1], q / Place.extent[2] % Place.extent[1],
                    q % Place.extent[2]) +
           feature % Place.channels;
  }

  template <class E>
  static void load_as(ExternalTensor const& from, long first, int samples, T* image) {
    bool const channels_last = from.variables == 0 && Place.step[2] == 1 &&
                               (Place.channels == 1 || from.channel_stride == 1) &&
                               (Place.extent[2] == 1 || from.spatial_stride[2] == Place.channels);
    for (int d = 0; d < Place.extent[0]; ++d)
      for (int h = 0; h < Place.extent[1]; ++h) {
        T* const row = image + long(Place.at(d, h, 0)) * n;
        if (channels_last)
          run(start<E>(from, first, 0, d, h), from.sample_stride, 1, samples,
              Place.extent[2] * Place.channels, row, n);
        else
          for (int c = 0; c < Place.channels; ++c)
            run(start<E>(from, first, c, d, h), from.sample_stride, from.spatial_stride[2], samples,
                Place.extent[2], row + c * n, Place.stride() * n);
      }
  }
  template <class E>
  static E const* start(ExternalTensor const& t, long first, int c, int d, int h) {
    return static_cast<E const*>(t.base(c)) + t.offset(first, c, d, h, 0);
  }

  // `count` numbers of each sample, `stride` apart, become vectors `to_stride` apart.
  template <class E>
  PHYLLO_NOINLINE static void run(E const* from, long sample_stride, long stride, int samples,
                                  int count, T* to, long to_stride) {
    alignas(64) T square[n * n] = {};
    alignas(64) T transposed[n * n];
    for (int i = 0; i < count; i += n) {
      int const wide = count - i < n ? count - i : n;
      for (int s = 0; s < n; ++s)
        for (int k = 0; k < wide; ++k)
          square[s * n + k] = is_zero(s, samples)
                                  ? T(0)
                                  : T(from[sample(s, samples) * sample_stride + (i + k) * stride]);
      VectorSquare<T>::transpose(square, n, transposed, n);
      for (int k = 0; k < wide; ++k)
        InstructionSet::store(to + (i + k) * to_stride, InstructionSet::load(transposed + k * n));
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
