// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/product_operand.hpp>
#include <phyllo/core/divisor.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Which way a window connects positions: from those of the output to the input's, or back.
enum class WindowPass { forward, backward };

/// What a convolution multiplies its weights by, as a matrix that is nowhere in memory: for each
/// position the channels under all taps of its window, zero where a tap stands outside.
///
/// shape    image (N, S, C); rows (N, positions), columns (taps, C); lines are rows where
///          AlongDepth, else columns
/// cost     no divisions
template <class S, bool AlongDepth, WindowPass Pass> struct WindowOperand {
  S const* data = nullptr;
  long lines = 0;
  long depth = 0;
  int image[3];
  int channels = 0;
  int padding[3];
  long sample = 0;                     // numbers from one sample to the next
  Divisor positions, plane, line;      // of the rows
  Divisor of_channels, taps, tap_row;  // of the columns
  Divisor stride[3];
  bool is_aligned = false;

  WindowOperand(S const* from, int batch, Shape const& read, Shape const& over, Window const& w)
      : data(from),
        channels(read.channels),
        sample(read.size()),
        positions(unsigned(over.positions())),
        plane(unsigned(over.spatial[1] * over.spatial[2])),
        line(unsigned(over.spatial[2])),
        of_channels(unsigned(read.channels)),
        taps(unsigned(w.size[1] * w.size[2])),
        tap_row(unsigned(w.size[2])) {
    long const rows = long(batch) * over.positions(), columns = long(w.taps()) * read.channels;
    lines = AlongDepth ? rows : columns;
    depth = AlongDepth ? columns : rows;
    for (int d = 0; d < 3; ++d) {
      image[d] = read.spatial[d];
      padding[d] = w.padding[d];
      stride[d] = Divisor(unsigned(w.stride[d]));
    }
    is_aligned =
        read.channels % 4 == 0 && reinterpret_cast<std::uintptr_t>(from) % sizeof(Pack4<S>) == 0;
  }

  /// Depths k to k + 3 of each of the lines `from` to `from` + 3.
  PHYLLO_INLINE void read(long from, long k, Pack4<S> (&four)[4]) const {
    if constexpr (AlongDepth) {
      read_rows(from, int(k), four);
    } else {
      Pack4<S> raw[4];
      read_rows(k, int(from), raw);
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        four[i] = {{raw[0].value[i], raw[1].value[i], raw[2].value[i], raw[3].value[i]}};
    }
  }

 private:
  // A row: its sample, and where its first tap is in each dimension, in steps of the positions'
  // stride backward.
  struct Row {
    S const* sample = nullptr;  // nullptr: there is no such row
    int first[3];
  };
  PHYLLO_INLINE Row row(long r) const {
    Row found;
    if (r >= (AlongDepth ? lines : depth)) return found;
    long const n = r < (1L << 31) ? long(positions.quotient(unsigned(r))) : r / positions.by;
    unsigned const q = unsigned(r - n * positions.by);
    unsigned const q0 = plane.quotient(q), rest = q - q0 * plane.by, q1 = line.quotient(rest);
    int const place[3] = {int(q0), int(q1), int(rest - q1 * line.by)};
    PHYLLO_UNROLL_ON_DEVICE
    for (int d = 0; d < 3; ++d)
      found.first[d] = Pass == WindowPass::forward ? place[d] * int(stride[d].by) - padding[d]
                                                   : place[d] + padding[d];
    found.sample = data + n * sample;
    return found;
  }
  // Tap and channel of a column.
  struct Column {
    int tap[3];
    int channel;
    bool exists;
  };
  PHYLLO_INLINE Column column(int c) const {
    unsigned const t = of_channels.quotient(unsigned(c)), t0 = taps.quotient(t),
                   rest = t - t0 * taps.by, t1 = tap_row.quotient(rest);
    return {{int(t0), int(t1), int(rest - t1 * tap_row.by)},
            c - int(t * of_channels.by),
            c < (AlongDepth ? depth : lines)};
  }
  // Columns c to c + 3 of the rows r to r + 3.
  PHYLLO_INLINE void read_rows(long r, int c, Pack4<S> (&four)[4]) const {
    if (is_aligned) {
      Column const first = column(c);
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i) {
        S const* const from = element(row(r + i), first);
        four[i] = from != nullptr ? *reinterpret_cast<Pack4<S> const*>(from) : Pack4<S>{};
      }
      return;
    }
    // Columns outside, and the compiler finds each row once: with four columns in registers and
    // rows outside, nvcc 13 spilled.
    PHYLLO_UNROLL_ON_DEVICE
    for (int j = 0; j < 4; ++j) {
      Column const of = column(c + j);
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i) {
        S const* const from = element(row(r + i), of);
        four[i].value[j] = from != nullptr ? *from : S{};
      }
    }
  }
  // nullptr: a zero.
  PHYLLO_INLINE S const* element(Row const& at, Column const& of) const {
    if (at.sample == nullptr || !of.exists) return nullptr;
    int place = 0;
    PHYLLO_UNROLL_ON_DEVICE
    for (int d = 0; d < 3; ++d) {
      int p = 0;
      if constexpr (Pass == WindowPass::forward) {
        p = at.first[d] + of.tap[d];
        if (p < 0) return nullptr;
      } else {
        int const reach = at.first[d] - of.tap[d];
        if (reach < 0) return nullptr;
        p = int(stride[d].quotient(unsigned(reach)));
        if (p * int(stride[d].by) != reach) return nullptr;
      }
      if (p >= image[d]) return nullptr;
      place = place * image[d] + p;
    }
    return at.sample + long(place) * channels + of.channel;
  }
};

/// The weights of a convolution for its gradients by inputs.
///
/// shape    memory (taps, C, C'); lines C, depth (taps, C')
template <class S> struct TapsOperand {
  S const* data = nullptr;
  long lines = 0;
  long depth = 0;
  Divisor outputs;
  bool is_aligned = false;

  TapsOperand(S const* from, int taps, int channels, int out)
      : data(from), lines(channels), depth(long(taps) * out), outputs(unsigned(out)) {
    is_aligned = out % 4 == 0 && reinterpret_cast<std::uintptr_t>(from) % sizeof(Pack4<S>) == 0;
  }

  PHYLLO_INLINE void read(long line, long k, Pack4<S> (&four)[4]) const {
    if (is_aligned) {
      S const* const from = first_of(line, k);
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        four[i] = line + i < lines && k < depth
                      ? *reinterpret_cast<Pack4<S> const*>(from + i * int(outputs.by))
                      : Pack4<S>{};
      return;
    }
    PHYLLO_UNROLL_ON_DEVICE
    for (int j = 0; j < 4; ++j) {
      S const* const from = first_of(line, k + j);
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        four[i].value[j] = line + i < lines && k + j < depth ? from[i * int(outputs.by)] : S{};
    }
  }

 private:
  PHYLLO_INLINE S const* first_of(long line, long k) const {
    unsigned const tap = outputs.quotient(unsigned(k));
    return data + (tap * lines + line) * outputs.by + (k - tap * outputs.by);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
