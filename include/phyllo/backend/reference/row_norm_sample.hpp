// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/segment.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

/// One row through a row normalisation of a segment and back: formulas of op::RowNormalization.
template <class Norm, class P> struct RowNormSample {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int channels = Norm::outputs;

  S const* scale;  // nullptr: one
  S const* shift;  // nullptr: zero
  A inverse = 0;
  std::vector<A> x_hat;

  template <class Work>
  RowNormSample(Work const& work, int layer, std::vector<S> const& x)
      : scale(Norm::scale ? work.parameters + work.weight[layer] : nullptr),
        shift(Norm::bias ? work.parameters + work.bias[layer] : nullptr) {
    A mean = 0, square = 0;
    for (S const v : x) mean += Norm::centered ? A(v) / A(channels) : A(0);
    for (S const v : x) square += (A(v) - mean) * (A(v) - mean) / A(channels);
    inverse = A(1) / std::sqrt(square + A(work.statistics[layer].epsilon));
    for (S const v : x) x_hat.push_back((A(v) - mean) * inverse);
  }

  A scale_of(int c) const { return scale != nullptr ? A(scale[c]) : A(1); }
  A z(int c) const {
    return x_hat[std::size_t(c)] * scale_of(c) + (shift != nullptr ? A(shift[c]) : A(0));
  }

  /// d, the gradient of z, becomes that of x; `d_scale` and `d_shift` are added to, unless null.
  void backward(std::vector<S>& d, A* d_scale, A* d_shift) const {
    A mean_h = 0, mean_hx = 0;
    for (int c = 0; c < channels; ++c) {
      auto const i = std::size_t(c);
      if (d_scale != nullptr) d_scale[c] += A(d[i]) * x_hat[i];
      if (d_shift != nullptr) d_shift[c] += A(d[i]);
      mean_h += Norm::centered ? A(d[i]) * scale_of(c) / A(channels) : A(0);
      mean_hx += A(d[i]) * scale_of(c) * x_hat[i] / A(channels);
    }
    for (int c = 0; c < channels; ++c) {
      auto const i = std::size_t(c);
      d[i] = S(inverse * (A(d[i]) * scale_of(c) - mean_h - x_hat[i] * mean_hx));
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
