// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_place.hpp>
#include <phyllo/backend/host/simd/lane_block.hpp>
#include <phyllo/backend/host/simd/register_block.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>

#include <utility>

namespace phyllo::inline PHYLLO_ISA::host {

/// y(q, o) = first[o] + sum over taps t and channels c of x(q stride + t, c) weight(t, c, o), for
/// images of as many samples as a vector has lanes.
///
/// shape    x X · weight (taps, C, C') · first (C') or null · y Y; positions count from the first
///          in X's memory, zeros included
/// numerics sums in rising order of (tap, channel); zeros around an image are passed over where a
///          whole block of sums would meet nothing else
template <class T, ImagePlace X, ImagePlace Y, Window W> struct ConvTile {
  static constexpr int row_depth = W.size[2] * X.channels;

  /// Calls finished(d, h) after each row of y.
  template <class RowFinished>
  PHYLLO_NOINLINE static void run(T const* x, T const* weight, T const* first, T* y,
                                  RowFinished const& finished) {
    for (int d = 0; d < Y.extent[0]; ++d)
      for (int h = 0; h < Y.extent[1]; ++h) {
        LaneShape<Y.channels, Y.extent[2]>::for_each([&]<int Outputs, int Positions>(int o, int q) {
          LaneBlock<T, Outputs, Positions> block;
          block.begin(first == nullptr ? nullptr : first + o);
          // Taps of a row where the block's positions meet more than zeros.
          int const begin = q * W.stride[2], end = (q + Positions - 1) * W.stride[2];
          int const from = X.before[2] > end ? X.before[2] - end : 0;
          int const beyond = X.before[2] + (X.extent[2] - 1) * X.step[2] + 1 - begin;
          int const taps = (beyond < W.size[2] ? beyond : W.size[2]) - from;
          for_rows(d, h, [&](int row, int tap) {
            block.multiply(weight + long(tap + from) * X.channels * Y.channels + o, Y.channels,
                           x + (long(row) * X.length[2] + begin + from) * X.channels * lanes<T>,
                           W.stride[2] * X.channels * lanes<T>, taps * X.channels);
          });
          block.store(y + (long(Y.at(d, h, 0)) + q * Y.stride() + o) * lanes<T>, lanes<T>,
                      Y.stride() * lanes<T>);
        });
        finished(d, h);
      }
  }

  /// f(row of x in memory, first tap in it) for the rows that row (d, h) of y reads.
  template <class F> PHYLLO_INLINE_ON_HOST static void for_rows(int d, int h, F const& f) {
    for (int td = 0; td < W.size[0]; ++td) {
      int const plane = d * W.stride[0] + td;
      if (!X.holds(0, plane)) continue;
      for (int th = 0; th < W.size[1]; ++th) {
        int const row = h * W.stride[1] + th;
        if (!X.holds(1, row)) continue;
        f(plane * X.length[1] + row, (td * W.size[1] + th) * W.size[2]);
      }
    }
  }
};

/// d_weight(t, c, o) += sum over positions q and samples of x(q stride + t, c) d_z(q, o), and
/// d_bias(o) += sum of d_z(q, o).
///
/// Few weights are summed for each sample lane apart, which keeps every vector full however many
/// channels there are; many would leave the first-level cache and are summed over the lanes as
/// well, in vectors of outputs, for which a row of d_z is transposed.
template <class T, ImagePlace X, ImagePlace Z, Window W> struct ConvGradient {
  using Correlation = ConvTile<T, X, Z, W>;
  static constexpr int row_depth = Correlation::row_depth;
  static constexpr int weights = W.taps() * X.channels * Z.channels;
  static constexpr bool by_lanes = weights <= 384;  // 24 KiB with the widest vectors
  /// Numbers of memory, zero before the first call: sums of lanes for weights, then for biases; or
  /// a row of d_z transposed.
  static constexpr int memory = by_lanes
                                    ? (weights + Z.channels) * lanes<T>
                                    : Z.extent[2] * lanes<T> * BlockShape<T, Z.channels>::stride;

  /// Row (d, h) of d_z.
  static void add(T const* x, T const* d_z, int d, int h, T* d_weight, T* d_bias, T* sums) {
    if constexpr (by_lanes)
      add_lanes(x, d_z + long(Z.at(d, h, 0)) * lanes<T>, d, h, sums,
                d_bias == nullptr ? nullptr : sums + weights * lanes<T>);
    else
      add_outputs(x, d_z + long(Z.at(d, h, 0)) * lanes<T>, d, h, d_weight, d_bias, sums);
  }

  /// Adds the sums of lanes to the gradients.
  static void finish(T const* sums, T* d_weight, T* d_bias) {
    if constexpr (by_lanes) {
      for (int i = 0; i < weights; ++i) d_weight[i] += lane_sum(sums + i * lanes<T>);
      if (d_bias != nullptr)
        for (int o = 0; o < Z.channels; ++o) d_bias[o] += lane_sum(sums + (weights + o) * lanes<T>);
    }
  }

 private:
  static T lane_sum(T const* v) {
    T part[lanes<T>];
    for (int l = 0; l < lanes<T>; ++l) part[l] = v[l];
    for (int width = lanes<T> / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) part[l] += part[l + width];
    return part[0];
  }
  static T const* in_row(T const* x, int row) {
    return x + long(row) * X.length[2] * X.channels * lanes<T>;
  }

  static void add_lanes(T const* x, T const* d_row, int d, int h, T* sums, T* bias_sums) {
    Correlation::for_rows(d, h, [&](int row, int tap) {
      LaneShape<row_depth, Z.channels>::for_each([&]<int Depth, int Outputs>(int k, int o) {
        T* const at = sums + (long(tap) * X.channels + k) * Z.channels * lanes<T> + o * lanes<T>;
        LaneBlock<T, Depth, Outputs> block;
        block.load(at, Z.channels * lanes<T>, lanes<T>);
        block.multiply_lanes(in_row(x, row) + k * lanes<T>, W.stride[2] * X.channels * lanes<T>,
                             d_row + o * lanes<T>, Z.stride() * lanes<T>, Z.extent[2]);
        block.store(at, Z.channels * lanes<T>, lanes<T>);
      });
    });
    if (bias_sums != nullptr)
      for (int o = 0; o < Z.channels; ++o) {
        Vector<T> sum = InstructionSet::load(bias_sums + o * lanes<T>);
        for (int q = 0; q < Z.extent[2]; ++q)
          sum = InstructionSet::add(
              sum, InstructionSet::load(d_row + (q * Z.stride() + o) * long(lanes<T>)));
        InstructionSet::store(bias_sums + o * lanes<T>, sum);
      }
  }

  using Outputs = BlockShape<T, Z.channels>;

  static void add_outputs(T const* x, T const* d_row, int d, int h, T* d_weight, T* d_bias,
                          T* by_sample) {
    // (position, sample, output): the channels of the next position fill the last vector.
    for (int q = 0; q < Z.extent[2]; ++q)
      for (int o = 0; o < Z.channels; o += lanes<T>)
        VectorSquare<T>::transpose(d_row + (long(q) * Z.stride() + o) * lanes<T>, lanes<T>,
                                   by_sample + long(q) * lanes<T> * Outputs::stride + o,
                                   Outputs::stride);
    Correlation::for_rows(d, h, [&](int row, int tap) {
      panel(in_row(x, row), by_sample, d_weight + long(tap) * X.channels * Z.channels,
            std::make_integer_sequence<int, Outputs::panels>{});
    });
    if (d_bias != nullptr)
      add_bias(by_sample, d_bias, std::make_integer_sequence<int, Outputs::panels>{});
  }

  template <int... Panel>
  static void panel(T const* x, T const* by_sample, T* d_weight,
                    std::integer_sequence<int, Panel...>) {
    (one_panel<Panel>(x, by_sample, d_weight), ...);
  }
  template <int Panel> static void one_panel(T const* x, T const* by_sample, T* d_weight) {
    constexpr int width = Outputs::template width<Panel>;
    constexpr int column = Outputs::template first<Panel> * lanes<T>;
    constexpr int rows = Outputs::rows(width, row_depth);
    constexpr int whole = (row_depth - 1) / rows * rows;
    for (int k = 0; k < whole; k += rows)
      block<rows, Panel>(x + k * lanes<T>, by_sample + column,
                         d_weight + long(k) * Z.channels + column);
    block<row_depth - whole, Panel>(x + whole * lanes<T>, by_sample + column,
                                    d_weight + long(whole) * Z.channels + column);
  }
  template <int Rows, int Panel> static void block(T const* x, T const* by_sample, T* d_weight) {
    RegisterBlock<T, Rows, Outputs::template width<Panel>, Outputs::template last<Panel>> sums;
    sums.begin(static_cast<T const*>(nullptr));
    for (int q = 0; q < Z.extent[2]; ++q)
      sums.multiply(x + long(q) * W.stride[2] * X.channels * lanes<T>, lanes<T>, 1,
                    by_sample + long(q) * lanes<T> * Outputs::stride, Outputs::stride, lanes<T>);
    sums.add_rows_to(d_weight, Z.channels);
  }

  template <int... Panel>
  static void add_bias(T const* by_sample, T* d_bias, std::integer_sequence<int, Panel...>) {
    (bias_panel<Panel>(by_sample, d_bias), ...);
  }
  template <int Panel> static void bias_panel(T const* by_sample, T* d_bias) {
    constexpr int width = Outputs::template width<Panel>;
    constexpr int column = Outputs::template first<Panel> * lanes<T>;
    RegisterBlock<T, 1, width, Outputs::template last<Panel>> sums;
    sums.begin(static_cast<T const*>(nullptr));
    for (int r = 0; r < Z.extent[2] * lanes<T>; ++r)
      for (int v = 0; v < width; ++v)
        sums.sum[0][v] = InstructionSet::add(
            sums.sum[0][v], sums.load(by_sample + long(r) * Outputs::stride + column, v));
    sums.add_rows_to(d_bias + column, 0);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
