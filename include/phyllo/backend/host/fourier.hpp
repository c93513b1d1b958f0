// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/column_blocks.hpp>
#include <phyllo/backend/portable/fourier.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A transform as a product: a matrix of cosines and sines times the numbers of one line along the
/// axis, where they stand. One work item: some lines.
///
/// shape    matrix (results and their parts, parts, numbers of a line) · line (numbers, parts, C)
/// numerics sums over the real parts, then over the imaginary parts, both in rising order
/// cost     the matrix is computed once for each worker, in slices of work memory
template <class P> struct fourier_transform {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Blocks = ColumnBlocks<A>;
  static constexpr long thread_bytes = 64 << 10;

  op::Fourier::Transform<P> work;
  int workers = 1;

  int from() const { return work.to_space ? work.axis.modes : work.axis.length; }
  int to() const { return work.to_space ? work.axis.length : work.axis.modes; }
  int parts_from() const { return work.axis.is_real && !work.to_space ? 1 : 2; }
  int parts_to() const { return work.axis.is_real && work.to_space ? 1 : 2; }
  long lines() const { return long(work.batch) * work.axis.before * work.axis.after; }
  /// Rows of the matrix that work memory holds.
  int rows_at_a_time() const {
    long const fit = thread_bytes / long(sizeof(A)) / (long(parts_from()) * from());
    return int(fit / Blocks::rows) * Blocks::rows;
  }
  bool fits() const {
    return Blocks::serves(work.axis.channels) && rows_at_a_time() > 0 && work.memory.slices > 0;
  }

  void operator()(int worker) const {
    A* const matrix = reinterpret_cast<A*>(work.memory.slice(worker));
    int const all = parts_to() * to(), most = rows_at_a_time();
    for (int first = 0; first < all; first += most) {
      int const rows = all - first < most ? all - first : most;
      fill(matrix, first, rows);
      each_piece(worker, workers, int(lines()),
                 [&](int line) { transform(matrix, first, rows, line); });
    }
  }

 private:
  // Rows that a block of registers has beyond the last one are zeros.
  void fill(A* matrix, int first, int rows) const {
    FourierAxis const& axis = work.axis;
    int const count = from(), parts = parts_from();
    int const padded = (rows + Blocks::rows - 1) / Blocks::rows * Blocks::rows;
    for (int r = 0; r < padded; ++r) {
      A* const row = matrix + long(r) * parts * count;
      int const result = (first + r) / parts_to();
      bool const is_imaginary = (first + r) % parts_to() == 1;
      // exp(2 pi i f(k) j / length), along k or along j
      FourierAngles angles(work.to_space ? result : axis.frequency(result), axis.length);
      for (int i = 0; i < count; ++i, angles.next()) {
        if (work.to_space && axis.both_signs && 2 * i == axis.modes)
          angles = FourierAngles(result, axis.length, axis.frequency(i));
        double const weight = r < rows ? axis.weight(work.to_space ? i : result) : 0;
        A const c = A(weight * angles.cosine);
        A const s = A(weight * (work.to_space ? 1 : -1) * angles.sine);
        row[i] = is_imaginary ? s : c;
        if (parts == 2) row[count + i] = is_imaginary ? c : -s;
      }
    }
  }
  void transform(A const* matrix, int first, int rows, int line) const {
    FourierAxis const& axis = work.axis;
    int const channels = axis.channels, count = from(), parts = parts_from();
    long const after = line % axis.after, before = line / axis.after;
    S const* const x = work.x + (before * count * axis.after + after) * parts * channels;
    int const stride = axis.after * parts * channels;
    Blocks::each(channels, [&]<int Vectors>(int column, int skipped) {
      for (int r = 0; r < rows; r += Blocks::rows) {
        typename Blocks::template Sums<Vectors> sums;
        A const* const block = matrix + long(r) * parts * count;
        for (int part = 0; part < parts; ++part)
          sums.registers.multiply(block + part * count, parts * count, 1,
                                  x + part * channels + column, stride, count);
        sums.finish();
        for (int k = 0; k < Blocks::rows && r + k < rows; ++k) {
          int const result = (first + r + k) / parts_to(), part = (first + r + k) % parts_to();
          S* const y = work.y +
                       ((before * to() + result) * axis.after + after) * parts_to() * channels +
                       part * channels + column;
          sums.store(k, skipped, work.accumulate, y);
        }
      }
    });
  }
};

template <class P> struct Kernels<op::Fourier, P> {
  static constexpr KernelTraits traits = {.thread_bytes = fourier_transform<P>::thread_bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Fourier::Transform<P> const& work) {
    fourier_transform<P> functor{work};
    if (!functor.fits()) return portable::Kernels<op::Fourier, P>::run(exec, label, work);
    int const pieces = worthy_pieces(exec, functor.lines(), work.axis.channels * functor.from());
    functor.workers = workers_of(exec, pieces, work.memory.slices);
    if (work.batch > 0) launch(exec, label, functor.workers, functor);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
