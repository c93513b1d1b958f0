// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/op/contraction.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Four columns of a row, of which those beyond the last are left out.
template <class T> PHYLLO_INLINE void write_four(T* to, int columns, int c, Pack4<T> const& four) {
  if (columns % 4 == 0) {
    *reinterpret_cast<Pack4<T>*>(to + c) = four;
    return;
  }
  PHYLLO_UNROLL_ON_DEVICE
  for (int i = 0; i < 4; ++i)
    if (c + i < columns) to[c + i] = four.value[i];
}

/// What becomes of the sums of a forward pass: bias, folded normalisation, what the backward pass
/// needs, pointwise chain.
template <class MmaAtom, class Chain, class P> struct ForwardEpilogue {
  using S = typename P::storage;
  S const* bias = nullptr;
  op::FoldedNormalization<P> fold;
  S* y = nullptr;
  S* saved = nullptr;
  Randomness random;
  int columns = 0;
  int positions = 0;

  explicit ForwardEpilogue(typename op::Contraction<Chain>::template Forward<P> const& work)
      : bias(work.bias),
        fold(work.fold),
        y(work.y),
        saved(work.saved),
        random(work.random),
        columns(work.output.channels),
        positions(work.output.positions()) {}

  PHYLLO_INLINE void operator()(long row, int c, Accumulator4<MmaAtom> four) const {
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i) {
      if (c + i >= columns) continue;
      float& z = four.value[i];
      if (bias != nullptr) z += float(bias[c + i]);
      if (fold.mean != nullptr)
        z = (z - fold.mean[c + i]) / Kokkos::sqrt(fold.variance[c + i] + fold.epsilon) *
                op::scale_at<float>(fold.scale, c + i) +
            op::shift_at<float>(fold.shift, c + i);
    }
    if (saved != nullptr)
      write_four(saved + row * columns, columns, c, MmaAtom::rounded(four.value));
    int const position = int(row % positions);
    four.template apply<Chain>(random, int(row / positions), position * columns + c);
    write_four(y + row * columns, columns, c, MmaAtom::rounded(four.value));
  }
};

/// Of a backward pass to the inputs.
template <class MmaAtom, class P> struct BackwardEpilogue {
  using S = typename P::storage;
  S* d_x = nullptr;
  int columns = 0;
  bool accumulate = false;

  PHYLLO_INLINE void operator()(long row, int c, Accumulator4<MmaAtom> four) const {
    S* const to = d_x + row * columns;
    if (accumulate) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        if (c + i < columns) four.value[i] += float(to[c + i]);
    }
    write_four(to, columns, c, MmaAtom::rounded(four.value));
  }
};

/// Of a backward pass to the parameters.
template <class MmaAtom> struct ParametersEpilogue {
  float* d_weight = nullptr;
  int columns = 0;

  PHYLLO_INLINE void operator()(long row, int c, Accumulator4<MmaAtom> const& four) const {
    float const(&v)[4] = four.value;
    write_four(d_weight + row * columns, columns, c, Pack4<float>{{v[0], v[1], v[2], v[3]}});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
