// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_place.hpp>
#include <phyllo/backend/host/segment/dense_tile.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A pointwise chain on one row of positions of images of as many samples as a vector has lanes.
///
/// numerics results rounded to Precision::storage
template <class Chain, class P, ImagePlace Y> struct ImageChain {
  using A = typename P::accumulate;
  static constexpr bool rounds = DenseTile<op::Dense<1, 1, false, Chain>, P>::rounds;
  static constexpr bool is_identity = Chain::length == 0 && !rounds;
  static constexpr int count = Y.extent[2] * Y.channels * lanes<A>;  // numbers of a row
  static_assert(!Y.has_zeros() || Y.step[2] == 1, "the elements of a row are contiguous");

  /// What a convolution calls when a row of y stands; one type for training and inference, so that
  /// the convolution is compiled once.
  struct Rows {
    A* y;
    A* saved;
    Randomness random;
    int first_sample;
    void operator()(int d, int h) const { apply(y, saved, d, h, random, first_sample); }
  };

  /// y = chain(y) in row (d, h); `saved`, unless null, keeps the chain's input.
  static void apply(A* y, A* saved, int d, int h, Randomness const& random, int first_sample) {
    if constexpr (!is_identity) {
      long const at = long(Y.at(d, h, 0)) * lanes<A>;
      int const index = (d * Y.extent[1] + h) * Y.extent[2] * Y.channels;
      A* const row = y + at;
      if (saved != nullptr) {
        PHYLLO_SIMD(16)
        for (int i = 0; i < count; ++i) saved[at + i] = rounded<P>(row[i]);
      }
      PHYLLO_SIMD(16)
      for (int i = 0; i < count; ++i)
        row[i] = rounded<P>(Chain::value(row[i], element(random, first_sample, index, i)));
    }
  }

  /// d = d chain'(kept) in row (d, h), where the positions of d may be apart.
  template <ImagePlace D>
  static void differentiate(A* d_y, A const* kept, int d, int h, Randomness const& random,
                            int first_sample) {
    if constexpr (!is_identity) {
      constexpr int run = D.stride() == Y.channels ? count : Y.channels * lanes<A>;
      int const index = (d * Y.extent[1] + h) * Y.extent[2] * Y.channels;
      for (int begin = 0; begin < count; begin += run) {
        A* const row = d_y + long(D.at(d, h, begin / (Y.channels * lanes<A>))) * lanes<A>;
        A const* const of_y = kept + long(Y.at(d, h, 0)) * lanes<A> + begin;
        PHYLLO_SIMD(16)
        for (int i = 0; i < run; ++i) {
          Element const e = element(random, first_sample, index, begin + i);
          if constexpr (Chain::length > 0)
            row[i] = rounded<P>(row[i] * Chain::derivative(of_y[i], e));
          else
            row[i] = rounded<P>(row[i]);
        }
      }
    }
  }

 private:
  PHYLLO_INLINE_ON_HOST static Element element([[maybe_unused]] Randomness const& random,
                                               [[maybe_unused]] int first_sample,
                                               [[maybe_unused]] int index, [[maybe_unused]] int i) {
    if constexpr (Chain::random)
      return random.element(first_sample + i % lanes<A>, index + i / lanes<A>);
    else
      return {};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
