// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// What the softmax of a row divides by: the sum over k of exp(x_k - largest).
template <class T> struct SoftmaxSum {
  T largest = 0;
  T sum = 0;
};

/// Partial sums of a row on a processor: what hides the latency of additions to vectors, and no
/// more, because compilers unroll loops over them.
inline constexpr int row_lanes = PHYLLO_VECTOR_BYTES >= 64   ? 64
                                 : PHYLLO_VECTOR_BYTES >= 32 ? 32
                                                             : 16;

/// Largest number and sum of exponentials of a row on a processor, in one pass: while one chunk of
/// the row is summed from the first-level cache, the next is fetched and compared. What has been
/// summed is scaled where a later chunk has larger numbers.
///
/// shape    x(c), c = 0 .. channels - 1
/// numerics a row of -infinity only sums to zero; Lanes partial sums, added as a binary tree
/// source   Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867
template <class T> class SoftmaxPass {
 public:
  static constexpr int lanes = row_lanes, most_chunks = 64;

  PHYLLO_INLINE explicit SoftmaxPass(int count) : channels(count) {
    int const even = (count + most_chunks - 1) / most_chunks;
    chunk_ = even < 2048 ? 2048 : (even + lanes - 1) / lanes * lanes;
  }

  /// `keep(c, exp(x_c - shift))` with the shift of c's chunk.
  template <class Row, class Keep>
  PHYLLO_INLINE SoftmaxSum<T> operator()(Row const& x, Keep const& keep) {
    T part[lanes], most[lanes];
    T largest = x(0);
    fill(part, T(0));
    fill(most, largest);
    compare(0, length(0), x, most, 0);
    for (int k = 0; k < chunks(); ++k) {
      T const before = largest;
      largest = highest(most);
      shift_[k] = largest;
      if (k > 0 && largest != before) {
        T const factor = decay(before - largest);
        PHYLLO_SIMD(32)
        for (int l = 0; l < lanes; ++l) part[l] *= factor;
      }
      // There is nothing to add to a row that is -infinity so far.
      int compared = 0;
      if (largest != -Kokkos::Experimental::infinity_v<T>) {
        add(k, x, largest, part, most, keep);
        compared = length(k + 1) / lanes * lanes;
      }
      compare(k + 1, length(k + 1), x, most, compared);
    }
    for (int width = lanes / 2; width > 0; width /= 2) {
      PHYLLO_SIMD(32)
      for (int l = 0; l < width; ++l) part[l] += part[l + width];
    }
    return {largest, part[0]};
  }

  PHYLLO_INLINE int chunks() const { return (channels + chunk_ - 1) / chunk_; }
  PHYLLO_INLINE int first(int k) const { return k * chunk_; }
  /// Channels of chunk k, none behind the last.
  PHYLLO_INLINE int length(int k) const {
    int const left = channels - k * chunk_;
    return left < 0 ? 0 : left < chunk_ ? left : chunk_;
  }
  PHYLLO_INLINE T shift(int k) const { return shift_[k]; }

  int channels;

 private:
  PHYLLO_INLINE static void fill(T (&v)[lanes], T value) {
    PHYLLO_SIMD(32)
    for (int l = 0; l < lanes; ++l) v[l] = value;
  }
  PHYLLO_FUNCTION PHYLLO_NOINLINE static T highest(T (&most)[lanes]) {
    T half[lanes / 2];
    PHYLLO_SIMD(32)
    for (int l = 0; l < lanes / 2; ++l)
      half[l] = most[l + lanes / 2] > most[l] ? most[l + lanes / 2] : most[l];
    for (int width = lanes / 4; width > 0; width /= 2) {
      PHYLLO_SIMD(32)
      for (int l = 0; l < width; ++l)
        half[l] = half[l + width] > half[l] ? half[l + width] : half[l];
    }
    return half[0];
  }
  template <class Row>
  PHYLLO_FUNCTION PHYLLO_NOINLINE void compare(int k, int count, Row const& x, T (&most)[lanes],
                                               int from) const {
    int c = first(k) + from;
    int const end = first(k) + count;
    for (; c + lanes <= end; c += lanes) {
      PHYLLO_SIMD(32)
      for (int l = 0; l < lanes; ++l) most[l] = x(c + l) > most[l] ? x(c + l) : most[l];
    }
    PHYLLO_SIMD(32)
    for (int l = 0; l < end - c; ++l) most[l] = x(c + l) > most[l] ? x(c + l) : most[l];
  }
  template <class Row, class Keep>
  PHYLLO_FUNCTION PHYLLO_NOINLINE void add(int k, Row const& x, T shift, T (&part)[lanes],
                                           T (&most)[lanes], Keep const& keep) const {
    int const begin = first(k), count = length(k), both = length(k + 1) / lanes * lanes;
    T sum[lanes], top[lanes];  // of this function's own: they stay in registers
    PHYLLO_SIMD(32)
    for (int l = 0; l < lanes; ++l) {
      sum[l] = part[l];
      top[l] = most[l];
    }
    int c = 0;
    for (; c < both; c += lanes) {
      PHYLLO_SIMD(32)
      for (int l = 0; l < lanes; ++l) {
        T const ahead = x(begin + count + c + l);
        top[l] = ahead > top[l] ? ahead : top[l];
        T const e = decay(x(begin + c + l) - shift);
        sum[l] += e;
        keep(begin + c + l, e);
      }
    }
    for (; c + lanes <= count; c += lanes) {
      PHYLLO_SIMD(32)
      for (int l = 0; l < lanes; ++l) {
        T const e = decay(x(begin + c + l) - shift);
        sum[l] += e;
        keep(begin + c + l, e);
      }
    }
    PHYLLO_SIMD(32)
    for (int l = 0; l < count - c; ++l) {
      T const e = decay(x(begin + c + l) - shift);
      sum[l] += e;
      keep(begin + c + l, e);
    }
    PHYLLO_SIMD(32)
    for (int l = 0; l < lanes; ++l) {
      part[l] = sum[l];
      most[l] = top[l];
    }
  }

  int chunk_;
  T shift_[most_chunks];
};

/// The same with its pass, and the exponentials where they are kept: of channel c with the shift of
/// its chunk.
template <class T> struct KeptSoftmax : SoftmaxSum<T> {
  SoftmaxPass<T> pass;
  T const* kept = nullptr;  // (C)
};

}  // namespace phyllo::inline PHYLLO_ISA::op
