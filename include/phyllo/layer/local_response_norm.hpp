// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Every number divided by a power of the mean square of Size channels around it, as in AlexNet:
/// y_c = x_c / (K + Alpha / Size * sum of x_i^2)^Beta, i from c - Size / 2 to c + (Size - 1) / 2.
///
/// shape    (N, C, S...) -> (N, C, S...)
/// options  Size of the window · Alpha = 1e-4 · Beta = 0.75 · K = 1, torch's defaults
/// errors   compile: a size or K that is not positive; a negative Alpha
/// numerics channels that do not exist are zeros; sums in Precision::accumulate
/// cost     forward: one read, one write; backward: two reads, one write
/// source   Krizhevsky, Sutskever and Hinton, ImageNet Classification with Deep Convolutional
///          Neural Networks, NeurIPS 2012, §3.3
template <int Size, double Alpha = 1e-4, double Beta = 0.75, double K = 1.0>
struct LocalResponseNorm {
  static constexpr char const* name = "local_response_norm";
  static constexpr Role role = Role::local_response;
  static constexpr int size = Size;
  static constexpr double alpha = Alpha, beta = Beta, k = K;

  static constexpr bool accepts(Shape) { return Size > 0 && Alpha >= 0 && K > 0; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "LocalResponseNorm: the size and K must be positive, and Alpha not negative.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
