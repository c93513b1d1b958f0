// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::op {

enum class ReductionKind : std::uint8_t {
  sum,
  mean,
  maximum,        // its gradient is divided evenly among equal numbers, as torch.amax divides it
  first_maximum,  // its gradient goes to the first of equal numbers, as that of a pooling
};
PHYLLO_FUNCTION constexpr bool is_maximum(ReductionKind kind) {
  return kind >= ReductionKind::maximum;
}

/// Half-open ranges in three spatial dimensions.
struct ReductionBox {
  int first[3] = {0, 0, 0};
  int last[3] = {1, 1, 1};

  PHYLLO_FUNCTION constexpr int count() const {
    return (last[0] - first[0]) * (last[1] - first[1]) * (last[2] - first[2]);
  }
};

/// Which numbers of the input a number of the output is made of: output index o of I inputs and O
/// outputs sees [floor(o I / O), ceil((o + 1) I / O)) in each spatial dimension, and all channels
/// where the output has one.
struct ReductionWindows {
  Shape input, output;

  PHYLLO_FUNCTION constexpr bool joins_channels() const {
    return output.channels != input.channels;
  }
  /// Channels of a window.
  PHYLLO_FUNCTION constexpr int channels() const { return joins_channels() ? input.channels : 1; }

  PHYLLO_FUNCTION constexpr ReductionBox window(int q) const { return ranges(q, output, input); }
  /// Output positions whose windows contain input position p.
  PHYLLO_FUNCTION constexpr ReductionBox outputs_over(int p) const {
    return ranges(p, input, output);
  }
  /// In dimension d; without divisions where it stays as it is, or becomes one.
  PHYLLO_FUNCTION static constexpr int begin(int at, int d, Shape const& of, Shape const& to) {
    if (to.spatial[d] == of.spatial[d]) return at;
    return to.spatial[d] == 1 ? 0 : int(long(at) * to.spatial[d] / of.spatial[d]);
  }
  PHYLLO_FUNCTION static constexpr int end(int at, int d, Shape const& of, Shape const& to) {
    if (to.spatial[d] == of.spatial[d]) return at + 1;
    if (to.spatial[d] == 1) return 1;
    return int((long(at + 1) * to.spatial[d] + of.spatial[d] - 1) / of.spatial[d]);
  }
  /// Whether every window has as many numbers as the first.
  PHYLLO_FUNCTION constexpr bool is_uniform() const {
    bool uniform = true;
    for (int d = 0; d < 3; ++d) uniform = uniform && input.spatial[d] % output.spatial[d] == 0;
    return uniform;
  }
  /// Numbers of the window of output position q.
  PHYLLO_FUNCTION constexpr int count(int q) const { return window(q).count() * channels(); }
  PHYLLO_FUNCTION static constexpr int position(Shape const& s, int d, int h, int w) {
    return (d * s.spatial[1] + h) * s.spatial[2] + w;
  }

 private:
  // One rule for both directions: a window contains p exactly where the range of p contains it.
  PHYLLO_FUNCTION static constexpr ReductionBox ranges(int at, Shape const& of, Shape const& to) {
    int const place[3] = {at / of.spatial[2] / of.spatial[1], at / of.spatial[2] % of.spatial[1],
                          at % of.spatial[2]};
    ReductionBox box;
    for (int d = 0; d < 3; ++d) {
      box.first[d] = begin(place[d], d, of, to);
      box.last[d] = end(place[d], d, of, to);
    }
    return box;
  }
};

/// Sum, mean or maximum over the windows of ReductionWindows: whole axes, or adaptive pooling.
///
/// shape    x (N, S, C) -> y (N, S', C or 1); chosen (N, S', C or 1): of maxima, 32 bits
/// numerics a sum is one of sums of rows of the width; a maximum passes a not-a-number on
/// cost     one read of the input for each window over it; the backward pass gathers, so that it
///          needs no atomics
/// source   Lin, Chen and Yan, "Network In Network", ICLR 2014; He, Zhang, Ren and Sun, "Spatial
///          Pyramid Pooling", ECCV 2014
template <ReductionKind Kind> struct Reduction {
  static constexpr ReductionKind kind = Kind;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    ReductionWindows windows;
    storage const* x = nullptr;
    storage* y = nullptr;
    // Where in the sample the first maximum is, or how many numbers are the maximum; nullptr: not
    // kept.
    std::int32_t* chosen = nullptr;
  };
  /// d_x (+)= sum over windows of d_y, of d_y / numbers of the window, of d_y / chosen where x = y,
  /// or of d_y where x is the chosen one
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    int batch = 0;
    ReductionWindows windows;
    storage const* x = nullptr;  // read with y, for `maximum` only
    storage const* y = nullptr;
    storage const* d_y = nullptr;
    std::int32_t const* chosen = nullptr;  // read for maxima only
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
