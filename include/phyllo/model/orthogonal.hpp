// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/kind/node.hpp>
#include <phyllo/model/initialization.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Weights as a matrix W (C', C taps) whose rows are orthogonal and of length `gain`, W W^T =
/// gain^2 I, or whose columns are where it has more rows: activations and gradients keep their
/// length.
///
/// options  gain = 1; sqrt 2 for layers followed by ReLU, 5/3 before Tanh
/// state    double room for one tensor at a time, while it draws
/// numerics Gram-Schmidt twice over normal numbers, in double, by sums in a fixed order: the bits
///          do not depend on the number of threads and ranks. Of the uniform distribution over such
///          matrices
/// cost     4 C' C taps min(C', C taps) flop, five launches for each row
/// source   Saxe, McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of learning",
///          ICLR 2014; torch.nn.init.orthogonal_; Gram-Schmidt twice: Giraud, Langou and Rozloznik,
///          Comput. Math. Appl. 50 (2005) 1069
struct Orthogonal {
  static constexpr bool by_tensor = true;  // launch_initialization: no value of one weight
  float gain = 1;
};

/// `count` vectors of length `size` in memory, which become orthogonal one after the other.
struct OrthogonalRows {
  double* rows = nullptr;     // (count, size)
  double* factors = nullptr;  // (count)
  long size = 0;
  int row = 0;  // in work
};

struct DrawOrthogonal {
  OrthogonalRows of;
  WeightKey key;
  bool transposed = false;  // a vector is a column of the matrix
  int count = 0;
  KOKKOS_FUNCTION void operator()(long i) const {
    long const row = i / of.size, at = i % of.size;
    WeightKey k = key;
    k.element = std::uint64_t(transposed ? at * count + row : i);
    of.rows[i] = double(detail::unit_normal(k));
  }
};

/// One work item: the share of one finished vector in that in work.
struct ProjectOrthogonal {
  OrthogonalRows of;
  KOKKOS_FUNCTION void operator()(long k) const {
    double const* const a = of.rows + k * of.size;
    double const* const b = of.rows + of.row * of.size;
    double sum = 0;
    for (long i = 0; i < of.size; ++i) sum += a[i] * b[i];
    of.factors[k] = sum;
  }
};
/// One work item: one element without those shares.
struct SubtractOrthogonal {
  OrthogonalRows of;
  KOKKOS_FUNCTION void operator()(long i) const {
    double sum = 0;
    for (int k = 0; k < of.row; ++k) sum += of.factors[k] * of.rows[k * of.size + i];
    of.rows[of.row * of.size + i] -= sum;
  }
};
struct NormalizeOrthogonal {
  OrthogonalRows of;
  KOKKOS_FUNCTION void operator()(long) const {
    double* const a = of.rows + of.row * of.size;
    double squares = 0;
    for (long i = 0; i < of.size; ++i) squares += a[i] * a[i];
    double const factor = 1 / Kokkos::sqrt(squares);
    for (long i = 0; i < of.size; ++i) a[i] *= factor;
  }
};

template <class Storage, class Accumulate> struct StoreOrthogonal {
  OrthogonalRows of;
  double gain = 1;
  bool transposed = false;
  int taps = 1, channels = 1, outputs = 1;
  Storage* parameters = nullptr;
  Accumulate* master = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const {
    long const o = i % outputs, c = i / outputs % channels, t = i / outputs / channels;
    long const column = c * taps + t;
    auto const value = Accumulate(
        gain * (transposed ? of.rows[column * of.size + o] : of.rows[o * of.size + column]));
    master[i] = value;
    parameters[i] = Storage(value);
  }
};

/// One tensor, its elements numbered as torch stores them.
template <class Space, class Storage, class Accumulate>
void draw_tensor(Space const& exec, std::string const& name, Orthogonal const& scheme,
                 WeightKey const& key, ParameterTensor const& t, Storage* parameters,
                 Accumulate* master) {
  using Numbers = Kokkos::View<double*, typename Space::memory_space>;
  long const columns = long(t.channels) * t.taps;
  bool const transposed = t.outputs > columns;
  int const count = transposed ? int(columns) : t.outputs;
  long const size = transposed ? t.outputs : columns;
  auto const room = [&](long numbers) {
    return allocate<Numbers>(name + "/orthogonal", numbers,
                             "Orthogonal needs a copy of the largest weights in double. Use "
                             "another scheme.",
                             exec);
  };
  Numbers const rows = room(size * count), factors = room(count);
  auto const launch = [&](long items, auto const& work) {
    Kokkos::parallel_for(name + "/initialize",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(exec, 0, items), work);
  };
  OrthogonalRows of{rows.data(), factors.data(), size, 0};
  launch(size * count, DrawOrthogonal{of, key, transposed, count});
  for (; of.row < count; ++of.row) {
    for (int time = 0; time < 2 && of.row > 0; ++time) {
      launch(of.row, ProjectOrthogonal{of});
      launch(size, SubtractOrthogonal{of});
    }
    launch(1, NormalizeOrthogonal{of});
  }
  launch(t.count, StoreOrthogonal<Storage, Accumulate>{of, double(scheme.gain), transposed, t.taps,
                                                       t.channels, t.outputs, parameters + t.offset,
                                                       master + t.offset});
  exec.fence("phyllo: orthogonal weights");  // its memory is in use until here
}

}  // namespace phyllo::inline PHYLLO_ISA
