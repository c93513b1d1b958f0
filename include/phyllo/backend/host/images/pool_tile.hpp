// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_place.hpp>
#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/op/pooling.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// Maximum or mean over a window, for images of as many samples as a vector has lanes.
///
/// shape    x X -> y Y; d_x D, of x's positions
/// numerics as op::Pooling
template <op::PoolingKind Kind, class T, ImagePlace X, ImagePlace Y, Window W> struct PoolTile {
  using I = InstructionSet;
  using V = Vector<T>;
  using Number = decltype(V() > V());  // of a tap, or a mask, for each lane
  static constexpr bool is_maximum = Kind == op::PoolingKind::maximum;

  /// Row (d, h) of y.
  static void forward(T const* x, T* y, int d, int h) {
    for (int w = 0; w < Y.extent[2]; ++w) {
      T* const to = y + long(Y.at(d, h, w)) * lanes<T>;
      bool const whole = is_inside(d, h, w);
      for (int c = 0; c < X.channels; ++c) {
        V result = I::zero(T());
        if (whole) {
          result = I::load(x + tap_at<X>(d, h, w, c, 0));
          PHYLLO_UNROLL_ON_HOST
          for (int t = 1; t < W.taps(); ++t)
            result = joined(result, I::load(x + tap_at<X>(d, h, w, c, t)));
        } else {
          bool first = true;
          for (int t = 0; t < W.taps(); ++t) {
            if (!tap_is_inside(d, h, w, t)) continue;
            V const value = I::load(x + tap_at<X>(d, h, w, c, t));
            result = first ? value : joined(result, value);
            first = false;
          }
        }
        I::store(to + c * lanes<T>, is_maximum ? result : result / I::broadcast(T(W.taps())));
      }
    }
  }

  /// The gradient of all of x from that of y. DX, DY: where each lies, as integral constants, since
  /// nvcc takes no structure with arrays as an argument of a function template.
  template <class DX, class DY> static void backward(T const* x, T const* d_y, T* d_x) {
    constexpr ImagePlace dx_place = DX::value, dy_place = DY::value;
    constexpr bool covers = [] {  // every number of d_x by one window, which writes it
      for (int d = 0; d < 3; ++d)
        if (W.stride[d] != W.size[d] || W.padding[d] != 0 || X.extent[d] != Y.extent[d] * W.size[d])
          return false;
      return true;
    }();
    if constexpr (!covers || dx_place.has_zeros())
      std::memset(static_cast<void*>(d_x), 0, sizeof(T) * lanes<T> * std::size_t(dx_place.size()));
    for (int d = 0; d < Y.extent[0]; ++d)
      for (int h = 0; h < Y.extent[1]; ++h)
        for (int w = 0; w < Y.extent[2]; ++w) {
          T const* const from = d_y + long(dy_place.at(d, h, w)) * lanes<T>;
          bool const whole = is_inside(d, h, w);
          for (int c = 0; c < X.channels; ++c) {
            V const gradient = I::load(from + c * lanes<T>);
            V const share = is_maximum ? gradient : gradient / I::broadcast(T(W.taps()));
            if (whole)
              whole_window<dx_place, covers>(x, share, d_x, d, h, w, c);
            else
              part_of_window<dx_place>(x, share, d_x, d, h, w, c);
          }
        }
  }

 private:
  PHYLLO_INLINE_ON_HOST static V joined(V a, V b) {
    if constexpr (is_maximum)
      return ((b > a) | (b != b)) ? b : a;
    else
      return I::add(a, b);
  }
  // Whether tap b is the maximum rather than a, an earlier one.
  PHYLLO_INLINE_ON_HOST static Number passes(V a, V b) { return (b > a) | ((b != b) & (a == a)); }

  static constexpr int tap(int dimension, int t) {
    return dimension == 2   ? t % W.size[2]
           : dimension == 1 ? t / W.size[2] % W.size[1]
                            : t / W.size[2] / W.size[1];
  }
  PHYLLO_INLINE_ON_HOST static int position(int dimension, int q, int t) {
    return q * W.stride[dimension] - W.padding[dimension] + tap(dimension, t);
  }
  template <ImagePlace Place>
  PHYLLO_INLINE_ON_HOST static long tap_at(int d, int h, int w, int c, int t) {
    return long(Place.at(position(0, d, t), position(1, h, t), position(2, w, t)) + c) * lanes<T>;
  }
  PHYLLO_INLINE_ON_HOST static bool tap_is_inside(int d, int h, int w, int t) {
    int const p[3] = {position(0, d, t), position(1, h, t), position(2, w, t)};
    bool inside = true;
    for (int i = 0; i < 3; ++i) inside = inside && p[i] >= 0 && p[i] < X.extent[i];
    return inside;
  }
  PHYLLO_INLINE_ON_HOST static bool is_inside(int d, int h, int w) {
    constexpr bool never_beyond = [] {
      for (int i = 0; i < 3; ++i)
        if (W.padding[i] != 0) return false;
      return true;
    }();
    return never_beyond || (tap_is_inside(d, h, w, 0) && tap_is_inside(d, h, w, W.taps() - 1));
  }

  template <ImagePlace D, bool Writes>
  PHYLLO_INLINE_ON_HOST static void whole_window(T const* x, V share, T* d_x, int d, int h, int w,
                                                 int c) {
    Number best = {};
    if constexpr (is_maximum) {
      V largest = I::load(x + tap_at<X>(d, h, w, c, 0));
      PHYLLO_UNROLL_ON_HOST
      for (int t = 1; t < W.taps(); ++t) {
        V const value = I::load(x + tap_at<X>(d, h, w, c, t));
        Number const later = passes(largest, value);
        largest = later ? value : largest;
        best = later ? Number{} + t : best;
      }
    }
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < W.taps(); ++t)
      store<D, Writes>(is_maximum ? (best == Number{} + t ? share : I::zero(T())) : share,
                       d_x + tap_at<D>(d, h, w, c, t));
  }
  template <ImagePlace D>
  static void part_of_window(T const* x, V share, T* d_x, int d, int h, int w, int c) {
    Number best = Number{} - 1;
    V largest = I::zero(T());
    for (int t = 0; is_maximum && t < W.taps(); ++t) {
      if (!tap_is_inside(d, h, w, t)) continue;
      V const value = I::load(x + tap_at<X>(d, h, w, c, t));
      Number const later = passes(largest, value) | (best < 0);
      largest = later ? value : largest;
      best = later ? Number{} + t : best;
    }
    for (int t = 0; t < W.taps(); ++t)
      if (tap_is_inside(d, h, w, t))
        store<D, false>(is_maximum ? (best == Number{} + t ? share : I::zero(T())) : share,
                        d_x + tap_at<D>(d, h, w, c, t));
  }
  template <ImagePlace D, bool Writes> PHYLLO_INLINE_ON_HOST static void store(V part, T* to) {
    I::store(to, Writes ? part : I::add(I::load(to), part));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
