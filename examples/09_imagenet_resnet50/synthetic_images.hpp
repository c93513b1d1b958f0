// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/random.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

/// Images of ten kinds of shapes and patterns, in random colours, at random places and of random
/// sizes, behind noise: a stand-in for photographs that needs no download.
///
/// shape    (N, 3, extent, extent), 0 to 255; image n is of class n % 10
/// numerics image n depends on the seed and n alone
struct SyntheticImages {
  using Images = Kokkos::View<std::uint8_t****, Kokkos::LayoutRight>;
  static constexpr int classes = 10;
  static constexpr char const* names[classes] = {"disc",
                                                 "ring",
                                                 "square",
                                                 "triangle",
                                                 "cross",
                                                 "horizontal stripes",
                                                 "vertical stripes",
                                                 "diagonal stripes",
                                                 "checkerboard",
                                                 "dots"};

  Images images;
  std::uint64_t seed = 0;
  long first = 0;  // number of the first image

  /// One row of pixels of one image.
  KOKKOS_FUNCTION void operator()(long item) const {
    int const extent = images.extent_int(3);
    long const n = item / extent;
    int const row = int(item % extent);
    auto const draw = [&](std::uint32_t k) {
      return phyllo::random_uniform(seed, 0, 0, std::uint64_t(first + n), k);
    };
    float const radius = float(extent) * (0.18f + 0.22f * draw(0));
    float const room = float(extent) - 2 * radius;
    float const x0 = radius + room * draw(1), y0 = radius + room * draw(2);
    float const angle = 0.5f * (draw(3) - 0.5f), noise = 60 * draw(4);
    float const c = Kokkos::cos(angle), s = Kokkos::sin(angle);
    float const slope = 60 * (draw(5) - 0.5f) / float(extent);
    float background[3], foreground[3], contrast = 0;
    for (std::uint32_t k = 0; k < 3; ++k) {
      background[k] = 255 * draw(6 + k);
      foreground[k] = 255 * draw(9 + k);
      contrast += Kokkos::abs(foreground[k] - background[k]);
    }
    if (contrast < 150)
      for (float& channel : foreground) channel = channel < 128 ? channel + 110 : channel - 110;
    for (int column = 0; column < extent; ++column) {
      float const dx = float(column) - x0, dy = float(row) - y0;
      float const u = (c * dx + s * dy) / radius, v = (c * dy - s * dx) / radius;
      bool const inside = is_inside(int((first + n) % classes), u, v);
      for (int k = 0; k < 3; ++k) {
        auto const element = std::uint32_t(16 + (row * extent + column) * 3 + k);
        float const value =
            (inside ? foreground[k] : background[k]) + slope * dy + noise * (draw(element) - 0.5f);
        images(n, k, row, column) = std::uint8_t(Kokkos::fmin(Kokkos::fmax(value, 0.0f), 255.0f));
      }
    }
  }

 private:
  // u, v: of the pixel, from the centre of the shape, in its radii.
  KOKKOS_FUNCTION static bool is_inside(int kind, float u, float v) {
    float const square = u * u + v * v;
    auto const odd = [](float t) { return (int(Kokkos::floor(t)) & 1) != 0; };
    bool const in_square = Kokkos::abs(u) < 1 && Kokkos::abs(v) < 1;
    switch (kind) {
      case 0:
        return square < 1;
      case 1:
        return square < 1 && square > 0.36f;
      case 2:
        return Kokkos::abs(u) < 0.85f && Kokkos::abs(v) < 0.85f;
      case 3:
        return v < 0.8f && v > 2.2f * Kokkos::abs(u) - 1;
      case 4:
        return in_square && (Kokkos::abs(u) < 0.3f || Kokkos::abs(v) < 0.3f);
      case 5:
        return in_square && odd(2.5f * v);
      case 6:
        return in_square && odd(2.5f * u);
      case 7:
        return in_square && odd(1.8f * (u + v));
      case 8:
        return in_square && odd(2 * u) != odd(2 * v);
      default: {
        float const a = u * 1.5f - Kokkos::floor(u * 1.5f) - 0.5f;
        float const b = v * 1.5f - Kokkos::floor(v * 1.5f) - 0.5f;
        return in_square && a * a + b * b < 0.09f;
      }
    }
  }
};
