// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/product_operand.hpp>
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
template <class S, bool AlongDepth, WindowPass Pass> struct WindowOperand {
  S const* data = nullptr;
  Shape image;      // what is read: C and S
  Shape positions;  // of the rows
  Window window;
  long lines = 0;
  long depth = 0;
  bool is_aligned = false;

  WindowOperand(S const* from, int batch, Shape const& read, Shape const& over, Window const& w)
      : data(from), image(read), positions(over), window(w) {
    long const rows = long(batch) * over.positions(), columns = long(w.taps()) * read.channels;
    lines = AlongDepth ? rows : columns;
    depth = AlongDepth ? columns : rows;
    is_aligned =
        read.channels % 4 == 0 && reinterpret_cast<std::uintptr_t>(from) % sizeof(Pack4<S>) == 0;
  }

  /// Depths k to k + 3 of each of the lines from `line` to `line` + 3.
  PHYLLO_INLINE void read(long line, long k, Pack4<S> (&four)[4]) const {
    if constexpr (AlongDepth) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i) four[i] = row(line + i, int(k));
    } else {
      Pack4<S> raw[4];
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i) raw[i] = row(k + i, int(line));
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        four[i] = {{raw[0].value[i], raw[1].value[i], raw[2].value[i], raw[3].value[i]}};
    }
  }

 private:
  // Columns c to c + 3 of row r.
  PHYLLO_INLINE Pack4<S> row(long r, int c) const {
    Pack4<S> four = {};
    if (r >= (AlongDepth ? lines : depth)) return four;
    int const size = positions.positions(), n = int(r / size), q = int(r % size);
    int const place[3] = {q / positions.spatial[2] / positions.spatial[1],
                          q / positions.spatial[2] % positions.spatial[1],
                          q % positions.spatial[2]};
    S const* const sample = data + long(n) * image.size();
    int const columns = window.taps() * image.channels;
    if (is_aligned) {
      S const* const from = c < columns ? element(sample, place, c) : nullptr;
      return from != nullptr ? *reinterpret_cast<Pack4<S> const*>(from) : four;
    }
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i) {
      S const* const from = c + i < columns ? element(sample, place, c + i) : nullptr;
      if (from != nullptr) four.value[i] = *from;
    }
    return four;
  }
  // Tap and channel of a column at a position, or nullptr.
  PHYLLO_INLINE S const* element(S const* sample, int const (&place)[3], int column) const {
    int const t = column / image.channels;
    int const tap[3] = {t / window.size[2] / window.size[1], t / window.size[2] % window.size[1],
                        t % window.size[2]};
    int at = 0;
    PHYLLO_UNROLL_ON_DEVICE
    for (int d = 0; d < 3; ++d) {
      int p = 0;
      if constexpr (Pass == WindowPass::forward) {
        p = place[d] * window.stride[d] - window.padding[d] + tap[d];
      } else {
        int const reach = place[d] + window.padding[d] - tap[d];
        if (reach % window.stride[d] != 0) return nullptr;
        p = reach / window.stride[d];
      }
      if (p < 0 || p >= image.spatial[d]) return nullptr;
      at = at * image.spatial[d] + p;
    }
    return sample + long(at) * image.channels + column % image.channels;
  }
};

/// The weights of a convolution for its gradients by inputs.
///
/// shape    memory (taps, C, C'); lines C, depth (taps, C')
template <class S> struct TapsOperand {
  S const* data = nullptr;
  long lines = 0;
  long depth = 0;
  int outputs = 0;
  bool is_aligned = false;

  TapsOperand(S const* from, int taps, int channels, int out)
      : data(from), lines(channels), depth(long(taps) * out), outputs(out) {
    is_aligned = out % 4 == 0 && reinterpret_cast<std::uintptr_t>(from) % sizeof(Pack4<S>) == 0;
  }

  PHYLLO_INLINE void read(long line, long k, Pack4<S> (&four)[4]) const {
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i) {
      four[i] = {};
      if (line + i >= lines || k >= depth) continue;
      if (is_aligned) {
        four[i] = *reinterpret_cast<Pack4<S> const*>(element(line + i, k));
        continue;
      }
      PHYLLO_UNROLL_ON_DEVICE
      for (int j = 0; j < 4; ++j)
        if (k + j < depth) four[i].value[j] = *element(line + i, k + j);
    }
  }

 private:
  PHYLLO_INLINE S const* element(long c, long k) const {
    return data + (k / outputs * lines + c) * outputs + k % outputs;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
