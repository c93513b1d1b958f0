// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/column_blocks.hpp>
#include <phyllo/backend/portable/spectral_product.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Bytes of work memory for each worker.
inline constexpr long spectral_bytes = 128 << 10;

/// Real and imaginary parts of some samples as rows of a real matrix, so that its product with the
/// real parts of weights above their imaginary parts is that of complex numbers; or of the
/// conjugate weights.
///
/// shape    x (samples, 2 C), `stride` apart -> rows (2 samples, 2 C): (a, -b) and (b, a), with
///          a + i b the numbers of x; conjugate: (a, b) and (b, -a)
template <class A, class S>
void fill_complex_rows(S const* x, long stride, int samples, int channels, bool conjugate,
                       A* rows) {
  A const sign = conjugate ? A(-1) : A(1);
  for (int n = 0; n < samples; ++n, x += stride, rows += 4L * channels) {
    PHYLLO_SIMD(16)
    for (int c = 0; c < channels; ++c) {
      A const a = number<A>(x, c), b = number<A>(x + channels, c);
      rows[c] = a;
      rows[channels + c] = -sign * b;
      rows[2 * channels + c] = b;
      rows[3 * channels + c] = sign * a;
    }
  }
}

/// One work item: some samples of some frequencies, times the weights or their conjugate transpose.
template <class P, bool IsGradient> struct spectral_product {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Blocks = ColumnBlocks<A>;
  static constexpr int samples = Blocks::rows / 2;  // of a block
  using Work = std::conditional_t<IsGradient, op::SpectralProduct::BackwardSource<P>,
                                  op::SpectralProduct::Forward<P>>;

  Work work;
  int workers = 1;

  int from() const { return IsGradient ? work.sizes.outputs : work.sizes.inputs; }
  int to() const { return IsGradient ? work.sizes.inputs : work.sizes.outputs; }
  int blocks() const { return (work.sizes.batch + samples - 1) / samples; }
  long items() const { return long(work.sizes.modes) * blocks(); }
  bool fits() const {
    long const transposed = IsGradient ? 2L * from() * to() : 0;
    return Blocks::serves(to()) && work.memory.slices > 0 &&
           (2L * Blocks::rows * from() + transposed) * long(sizeof(A)) <= spectral_bytes;
  }

  void operator()(int worker) const {
    A* const rows = reinterpret_cast<A*>(work.memory.slice(worker));
    A* const transposed = rows + 2L * Blocks::rows * from();
    int last_mode = -1;
    each_piece(worker, workers, int(items()), [&](int item) {
      int const mode = item / blocks();
      S const* const weight = work.weight + 2L * mode * from() * to();
      if constexpr (IsGradient) {
        if (mode != last_mode) transpose(weight, transposed);
        last_mode = mode;
        product(rows, transposed, mode, item % blocks());
      } else {
        product(rows, weight, mode, item % blocks());
      }
    });
  }

 private:
  // weight (2, I, O) -> (2, O, I)
  void transpose(S const* weight, A* transposed) const {
    int const rows = to(), columns = from();
    for (int part = 0; part < 2; ++part, weight += rows * columns, transposed += rows * columns)
      for (int i = 0; i < rows; ++i)
        for (int o = 0; o < columns; ++o) transposed[o * rows + i] = A(weight[i * columns + o]);
  }
  template <class W> void product(A* rows, W const* weight, int mode, int block) const {
    op::SpectralProduct::Sizes const& s = work.sizes;
    int const begin = block * samples, left = s.batch - begin,
              count = left < samples ? left : samples;
    long const step = 2L * s.modes;
    long const first = (long(begin) * s.modes + mode) * 2;
    S const* x;
    S* y;
    bool adds = false;
    if constexpr (IsGradient) {
      x = work.d_y;
      y = work.d_x;
      adds = work.accumulate;
    } else {
      x = work.x;
      y = work.y;
    }
    fill_complex_rows(x + first * from(), step * from(), count, from(), IsGradient, rows);
    // Rows of samples that are not there have numbers of others, and are not stored.
    for (long k = 4L * count * from(); k < 2L * Blocks::rows * from(); ++k) rows[k] = A(0);
    Blocks::each(to(), [&]<int Vectors>(int column, int skipped) {
      typename Blocks::template Sums<Vectors> sums;
      sums.registers.multiply(rows, 2 * from(), 1, weight + column, to(), 2 * from());
      sums.finish();
      for (int k = 0; k < 2 * count; ++k)
        sums.store(k, skipped, adds, y + (first + step * (k / 2) + k % 2) * to() + column);
    });
  }
};

/// One work item: the gradients of the weights of some frequencies, over all samples.
template <class P> struct spectral_weights {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Blocks = ColumnBlocks<A>;
  static constexpr int rows = Blocks::rows;

  op::SpectralProduct::BackwardParameters<P> work;
  int workers = 1;

  /// Inputs in whole blocks.
  int padded() const { return (work.sizes.inputs + rows - 1) / rows * rows; }
  /// Samples that work memory holds.
  int samples() const { return int(spectral_bytes / long(sizeof(A)) / (3L * padded())); }
  bool fits() const {
    return Blocks::serves(work.sizes.outputs) && samples() > 0 && work.memory.slices > 0;
  }

  void operator()(int worker) const {
    A* const lines = reinterpret_cast<A*>(work.memory.slice(worker));
    op::SpectralProduct::Sizes const& s = work.sizes;
    int const most = samples();
    each_piece(worker, workers, s.modes, [&](int mode) {
      for (int begin = 0; begin < s.batch; begin += most) {
        int const count = s.batch - begin < most ? s.batch - begin : most;
        fill(lines, mode, begin, count);
        add(lines, mode, begin, count);
      }
    });
  }

 private:
  // Of each sample: real parts, imaginary parts, and these negative.
  void fill(A* lines, int mode, int begin, int count) const {
    op::SpectralProduct::Sizes const& s = work.sizes;
    int const wide = padded();
    for (int n = 0; n < count; ++n, lines += 3L * wide) {
      S const* const x = work.x + (long(begin + n) * s.modes + mode) * 2 * s.inputs;
      for (int i = 0; i < wide; ++i) {
        A const a = i < s.inputs ? A(x[i]) : A(0), b = i < s.inputs ? A(x[s.inputs + i]) : A(0);
        lines[i] = a;
        lines[wide + i] = b;
        lines[2L * wide + i] = -b;
      }
    }
  }
  // The first samples write, those behind them are added.
  void add(A const* lines, int mode, int begin, int count) const {
    op::SpectralProduct::Sizes const& s = work.sizes;
    int const wide = padded(), stride = 3 * wide;
    long const step = 2L * s.modes * s.outputs;
    S const* const d_y = work.d_y + (long(begin) * s.modes + mode) * 2 * s.outputs;
    A* const d_weight = work.d_weight + 2L * mode * s.inputs * s.outputs;
    Blocks::each(s.outputs, [&]<int Vectors>(int column, int skipped) {
      S const* const real = d_y + column;
      S const* const imaginary = real + s.outputs;
      for (int i = 0; i < s.inputs; i += rows)
        for (int part = 0; part < 2; ++part) {
          typename Blocks::template Sums<Vectors> sums;
          // conj(a + i b) (c + i d) = (a c + b d) + i (a d - b c)
          sums.registers.multiply(lines + i, 1, stride, part == 0 ? real : imaginary, step, count);
          sums.registers.multiply(lines + (part == 0 ? 1 : 2) * wide + i, 1, stride,
                                  part == 0 ? imaginary : real, step, count);
          sums.finish();
          for (int k = 0; k < rows && i + k < s.inputs; ++k)
            sums.store(k, skipped, begin > 0,
                       d_weight + (long(part) * s.inputs + i + k) * s.outputs + column);
        }
    });
  }
};

template <class P> struct Kernels<op::SpectralProduct, P> {
  static constexpr KernelTraits traits = {.thread_bytes = spectral_bytes};
  using Portable = portable::Kernels<op::SpectralProduct, P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SpectralProduct::Forward<P> const& work) {
    run_products(exec, label, spectral_product<P, false>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SpectralProduct::BackwardSource<P> const& work) {
    run_products(exec, label, spectral_product<P, true>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SpectralProduct::BackwardParameters<P> const& work) {
    spectral_weights<P> functor{work};
    if (!functor.fits() || work.sizes.batch == 0) return Portable::run(exec, label, work);
    auto const& s = work.sizes;
    int const pieces = worthy_pieces(exec, s.modes, s.inputs * s.outputs);
    functor.workers = workers_of(exec, pieces, work.memory.slices);
    launch(exec, label, functor.workers, functor);
  }

 private:
  template <class Space, class Functor>
  static void run_products(Space const& exec, std::string const& label, Functor functor) {
    if (!functor.fits()) return Portable::run(exec, label, functor.work);
    int const pieces = worthy_pieces(exec, functor.items(), functor.from() * functor.to());
    functor.workers = workers_of(exec, pieces, functor.work.memory.slices);
    if (functor.items() > 0) launch(exec, label, functor.workers, functor);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
