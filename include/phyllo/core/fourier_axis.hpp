// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One axis of a truncated discrete Fourier transform, between `length` numbers in space and
/// `modes` frequencies, for the positions in front of it and behind it.
///
/// shape    in space (before, length, after, C or 2 C), as frequencies (before, modes, after, 2 C);
///          2 C: real parts, then imaginary parts
struct FourierAxis {
  int before = 1, after = 1;
  int channels = 1;  // complex numbers of a position
  int length = 1, modes = 1;
  bool both_signs = false;  // frequencies 0 .. modes / 2 - 1, -modes / 2 .. -1; else 0 .. modes - 1
  bool is_real = false;     // in space
  // An inverse divides by the length. A real result counts a frequency twice if its negative, whose
  // term is the conjugate, is left out.
  bool is_inverse = false;

  PHYLLO_INLINE constexpr int frequency(int mode) const {
    return both_signs && 2 * mode >= modes ? mode - modes : mode;
  }
  PHYLLO_INLINE constexpr double weight(int mode) const {
    if (!is_inverse) return 1;
    int const f = frequency(mode);
    return (is_real && f != 0 && 2 * f != length ? 2.0 : 1.0) / length;
  }
  PHYLLO_INLINE constexpr int space_channels() const { return is_real ? channels : 2 * channels; }
};

/// cos and sin of 2 pi frequency i / length, for i = first, first + 1, ...: by rotation, from the
/// functions themselves at every eighth one.
///
/// numerics in double; the error is at most 8 roundings of double
class FourierAngles {
 public:
  double cosine = 1, sine = 0;

  PHYLLO_INLINE FourierAngles(int frequency, int length, int first = 0)
      : frequency_(frequency), length_(length), i_(first) {
    at(1, step_cosine_, step_sine_);
    at(first, cosine, sine);
  }
  PHYLLO_INLINE void next() {
    if (++i_ % 8 == 0) return at(i_, cosine, sine);
    double const c = cosine;
    cosine = c * step_cosine_ - sine * step_sine_;
    sine = c * step_sine_ + sine * step_cosine_;
  }

 private:
  int frequency_, length_, i_;
  double step_cosine_ = 1, step_sine_ = 0;

  PHYLLO_INLINE void at(int i, double& c, double& s) const {
    long const part = long(frequency_) * i % length_;  // its sign is that of the product
    double const angle = 6.283185307179586476925286766559 * double(part) / double(length_);
    c = Kokkos::cos(angle);
    s = Kokkos::sin(angle);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
