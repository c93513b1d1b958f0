// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/matrix_operand.hpp>
#include <phyllo/backend/host/gemm/operand_prefetch.hpp>
#include <phyllo/backend/host/gemm/position_grid.hpp>
#include <phyllo/core/convolution_shape.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Windows side by side for which the same taps stand inside of the image.
struct TapRegion {
  int begin[3] = {0, 0, 0}, end[3] = {0, 0, 0};   // windows
  int first[3] = {0, 0, 0}, last[3] = {0, 0, 0};  // taps [first, last)

  long positions() const {
    long count = 1;
    for (int d = 0; d < 3; ++d) count *= end[d] - begin[d];
    return count;
  }
  int taps() const { return (last[0] - first[0]) * (last[1] - first[1]) * (last[2] - first[2]); }

  /// Whether taps are so far apart that regions save more than a sixth of the products.
  static bool are_worth_it(ConvolutionShape const& s) {
    double share = 1;  // of the products of all windows and taps
    for (int d = 0; d < 3; ++d) {
      long inside = 0;
      for (TapRegion r = along(s, d, 0); r.begin[d] < s.grid.spatial[d]; r = along(s, d, r.end[d]))
        inside += long(r.end[d] - r.begin[d]) * (r.last[d] - r.first[d]);
      share *= double(inside) / (double(s.grid.spatial[d]) * s.size[d]);
    }
    return s.mode == PaddingMode::zeros && share < 5.0 / 6;
  }
  /// visit(region) for each, or for one of all windows and taps.
  template <class Visit> static void for_each(ConvolutionShape const& s, Visit const& visit) {
    if (!are_worth_it(s)) return visit(all(s));
    auto const extent = s.grid.spatial;
    for (TapRegion a = along(s, 0, 0); a.begin[0] < extent[0]; a = along(s, 0, a.end[0]))
      for (TapRegion b = along(s, 1, 0); b.begin[1] < extent[1]; b = along(s, 1, b.end[1]))
        for (TapRegion c = along(s, 2, 0); c.begin[2] < extent[2]; c = along(s, 2, c.end[2])) {
          TapRegion r = c;
          r.take(a, 0);
          r.take(b, 1);
          visit(r);
        }
  }
  static TapRegion all(ConvolutionShape const& s) {
    TapRegion r;
    for (int d = 0; d < 3; ++d) {
      r.end[d] = s.grid.spatial[d];
      r.last[d] = s.size[d];
    }
    return r;
  }
  /// The windows whose tap t stands inside, and that tap.
  static TapRegion of_tap(ConvolutionShape const& s, int t) {
    int const tap[3] = {t / s.size[2] / s.size[1], t / s.size[2] % s.size[1], t % s.size[2]};
    TapRegion r = all(s);
    for (int d = 0; d < 3; ++d) {
      r.first[d] = tap[d];
      r.last[d] = tap[d] + 1;
      while (r.begin[d] < r.end[d] && s.place(d, r.begin[d], tap[d]) < 0) ++r.begin[d];
      while (r.end[d] > r.begin[d] && s.place(d, r.end[d] - 1, tap[d]) >= s.image.spatial[d])
        --r.end[d];
    }
    return r;
  }
  /// As positions of the result.
  PositionGrid reached(ConvolutionShape const& s) const {
    PositionGrid grid;
    for (int d = 0; d < 3; ++d) {
      grid.extent[d] = end[d] - begin[d];
      grid.first[d] = begin[d];
      grid.image[d] = s.grid.spatial[d];
    }
    return grid;
  }

 private:
  void take(TapRegion const& from, int d) {
    begin[d] = from.begin[d];
    end[d] = from.end[d];
    first[d] = from.first[d];
    last[d] = from.last[d];
  }
  // The windows from q on that have the same taps inside, along dimension d.
  static TapRegion along(ConvolutionShape const& s, int d, int q) {
    TapRegion run;
    run.begin[d] = run.end[d] = q;
    for (; run.end[d] < s.grid.spatial[d]; ++run.end[d]) {
      int first = 0, last = s.size[d];
      while (first < last && s.place(d, run.end[d], first) < 0) ++first;
      while (last > first && s.place(d, run.end[d], last - 1) >= s.image.spatial[d]) --last;
      if (first == last) first = last = 0;
      if (run.end[d] > q && (first != run.first[d] || last != run.last[d])) break;
      run.first[d] = first;
      run.last[d] = last;
    }
    return run;
  }
};

/// The weights of the taps of a region.
///
/// shape    memory (taps, channels, stride); rows (taps of the region, channels)
template <class T> struct TapRows {
  using value = T;
  static constexpr bool by_rows = true;

  T const* data = nullptr;
  long stride = 0;
  int channels = 0;
  int size[3] = {1, 1, 1};
  int first[3] = {0, 0, 0};
  int count[3] = {1, 1, 1};

  TapRows(T const* from, long of_stride, int of_channels, ConvolutionShape const& s,
          TapRegion const& r)
      : data(from), stride(of_stride), channels(of_channels) {
    for (int d = 0; d < 3; ++d) {
      size[d] = s.size[d];
      first[d] = r.first[d];
      count[d] = r.last[d] - r.first[d];
    }
  }
  PHYLLO_INLINE_ON_HOST T const* at(long row, long column) const {
    int const t = int(row / channels), w = first[2] + t % count[2],
              h = first[1] + t / count[2] % count[1], d = first[0] + t / count[2] / count[1];
    long const tap = (long(d) * size[1] + h) * size[2] + w;
    return data + (tap * channels + row % channels) * stride + column;
  }
};

/// The rows of a grid at the windows of a region.
///
/// shape    memory (N, windows, stride); rows (N, windows of the region)
template <class T> struct GridRows {
  using value = T;
  static constexpr bool by_rows = true;

  T const* data = nullptr;
  long stride = 0;
  PositionGrid grid;

  PHYLLO_INLINE_ON_HOST T const* at(long row, long column) const {
    return data + PositionGrid::Cursor(grid, row).place() * stride + column;
  }
};

/// Both are packed without it.
template <class T> class OperandPrefetch<TapRows<T>> {
 public:
  OperandPrefetch(TapRows<T> const&, long, long, long, long, int) {}
  PHYLLO_INLINE_ON_HOST void operator()() {}
};
template <class T> class OperandPrefetch<GridRows<T>> {
 public:
  OperandPrefetch(GridRows<T> const&, long, long, long, long, int) {}
  PHYLLO_INLINE_ON_HOST void operator()() {}
};

}  // namespace phyllo::inline PHYLLO_ISA::host
