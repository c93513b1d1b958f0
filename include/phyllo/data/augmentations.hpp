// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/data/augmentation_draw.hpp>

#include <Kokkos_Core.hpp>

#include <limits>
#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// A row of a sample, from its last element to its first.
template <class View> struct FlipRows {
  View samples;  // (N, ..., W)
  AugmentationDraw draw;
  float probability = 0;
  long rows = 0;  // of a sample
  int width = 0;

  KOKKOS_FUNCTION void operator()(long i) const {
    if (draw.uniform(i / rows) >= probability) return;
    auto* const row = samples.data() + i * width;
    for (int a = 0, b = width - 1; a < b; ++a, --b) {
      auto const first = row[a];
      row[a] = row[b];
      row[b] = first;
    }
  }
};

// A plane of a sample, moved by whole elements. Each element is read before it is overwritten: the
// order begins at the side that the plane moves to.
template <class View> struct MovePlanes {
  View samples;  // (N, ..., H, W)
  AugmentationDraw draw;
  int most = 0;
  long planes = 0;  // of a sample
  int height = 0, width = 0;

  KOKKOS_FUNCTION void operator()(long i) const {
    using T = typename View::non_const_value_type;
    int const down = draw.integer(i / planes, 0, most), right = draw.integer(i / planes, 1, most);
    T* const plane = samples.data() + i * long(height) * width;
    for (int k = 0; k < height; ++k) {
      int const to = down > 0 ? height - 1 - k : k, from = to - down;
      for (int l = 0; l < width; ++l) {
        int const w = right > 0 ? width - 1 - l : l, source = w - right;
        bool const inside = from >= 0 && from < height && source >= 0 && source < width;
        plane[long(to) * width + w] = inside ? plane[long(from) * width + source] : T(0);
      }
    }
  }
};

template <class View> struct AddNoise {
  View samples;
  AugmentationDraw draw;
  float deviation = 0;
  long elements = 0;  // of a sample

  KOKKOS_FUNCTION void operator()(long i) const {
    using T = typename View::non_const_value_type;
    float const noise = deviation * draw.normal(i / elements, std::uint32_t(i % elements));
    samples.data()[i] = T(float(samples.data()[i]) + noise);
  }
};

template <class Space, class Functor>
void launch_augmentation(Space const& exec, char const* label, long count, Functor const& functor) {
  Kokkos::parallel_for(launch_label(label),
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(exec, 0, count),
                       functor);
}
template <class View> long elements_of(View const& samples) {
  return samples.extent(0) == 0 ? 0 : long(samples.size() / samples.extent(0));
}

}  // namespace detail

/// For Batches::augment: samples of the inputs are reversed along their last extent, each by
/// chance.
///
/// shape    inputs: one View (N, ..., W)
/// options  probability: 0 to 1
/// errors   run: another probability -> Error
/// numerics the same samples on any number of ranks
/// cost     one pass over the samples that are reversed
struct RandomFlip {
  float probability = 0.5f;

  void check() const {
    if (!(probability >= 0 && probability <= 1))
      throw Error("RandomFlip: expected a probability from 0 to 1, got " +
                  std::to_string(probability) + ". Set RandomFlip::probability.");
  }
  template <class Space, class Batch>
  void operator()(Space const& exec, Batch const& batch, AugmentationDraw const& draw) const {
    check();
    auto const& x = batch.inputs;
    using View = std::remove_cvref_t<decltype(x)>;
    static_assert(View::rank >= 2, "RandomFlip: expected samples of one extent or more.");
    int const width = int(x.extent(View::rank - 1));
    long const rows = detail::elements_of(x) / (width > 0 ? width : 1);
    detail::launch_augmentation(exec, "phyllo/random flip", long(x.extent(0)) * rows,
                                detail::FlipRows<View>{x, draw, probability, rows, width});
  }
};

/// For Batches::augment: samples of the inputs are moved by up to `padding` elements along their
/// last two extents, as if they were padded by zeros and cropped at a random place.
///
/// shape    inputs: one View (N, ..., H, W). Of sequences (N, C, L) the last two extents are C and
///          L: their channels would be moved too
/// options  padding: 0 to 2^20
/// errors   run: another padding -> Error
/// numerics the same moves on any number of ranks
/// cost     one pass; a plane of a sample is one work item
struct RandomCrop {
  int padding = 2;

  void check() const {
    if (padding < 0 || padding > 1 << 20)
      throw Error("RandomCrop: expected a padding from 0 to 2^20 elements, got " +
                  std::to_string(padding) + ". Set RandomCrop::padding.");
  }
  template <class Space, class Batch>
  void operator()(Space const& exec, Batch const& batch, AugmentationDraw const& draw) const {
    check();
    auto const& x = batch.inputs;
    using View = std::remove_cvref_t<decltype(x)>;
    static_assert(View::rank >= 3, "RandomCrop: expected samples of two extents or more.");
    int const height = int(x.extent(View::rank - 2)), width = int(x.extent(View::rank - 1));
    long const plane = long(height) * width,
               planes = detail::elements_of(x) / (plane > 0 ? plane : 1);
    detail::launch_augmentation(exec, "phyllo/random crop", long(x.extent(0)) * planes,
                                detail::MovePlanes<View>{x, draw, padding, planes, height, width});
  }
};

/// For Batches::augment: adds independent normal numbers to the inputs.
///
/// shape    inputs: one View (N, ...) of floating numbers
/// units    deviation: that of the inputs
/// errors   run: a deviation that is negative or not finite -> Error
/// numerics added in float; logarithm and cosine are those of the device
/// cost     one pass
struct GaussianNoise {
  float deviation = 0.01f;

  void check() const {
    if (!(deviation >= 0 && deviation <= std::numeric_limits<float>::max()))
      throw Error("GaussianNoise: expected a finite deviation of 0 or more, got " +
                  std::to_string(deviation) + ". Set GaussianNoise::deviation.");
  }
  template <class Space, class Batch>
  void operator()(Space const& exec, Batch const& batch, AugmentationDraw const& draw) const {
    check();
    auto const& x = batch.inputs;
    using View = std::remove_cvref_t<decltype(x)>;
    static_assert(!std::is_integral_v<typename View::non_const_value_type>,
                  "GaussianNoise: expected inputs of floating numbers.");
    long const elements = detail::elements_of(x);
    detail::launch_augmentation(exec, "phyllo/Gaussian noise", long(x.size()),
                                detail::AddNoise<View>{x, draw, deviation, elements});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
