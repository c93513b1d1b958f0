// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Some lanes of a vector of A: a bit for each with AVX-512, else a vector of all ones and zeros.
template <class A> class LaneMask {
 public:
#if defined(__AVX512F__)
  using Bits = std::conditional_t<sizeof(A) == 8, __mmask8, __mmask16>;
#else
  using Bits = decltype(Vector<A>{} == Vector<A>{});
#endif
  LaneMask() = default;
  explicit LaneMask(Bits bits) : bits_(bits) {}

#if defined(__AVX512F__)
  static PHYLLO_INLINE_ON_HOST LaneMask equal(__m512 a, __m512 b) {
    return LaneMask(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ));
  }
  static PHYLLO_INLINE_ON_HOST LaneMask equal(__m512d a, __m512d b) {
    return LaneMask(_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ));
  }
  static PHYLLO_INLINE_ON_HOST LaneMask greater(__m512 a, __m512 b) {
    return LaneMask(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ));
  }
  static PHYLLO_INLINE_ON_HOST LaneMask greater(__m512d a, __m512d b) {
    return LaneMask(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ));
  }
  /// Where a or b is not a number.
  static PHYLLO_INLINE_ON_HOST LaneMask unordered(__m512 a, __m512 b) {
    return LaneMask(_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q));
  }
  static PHYLLO_INLINE_ON_HOST LaneMask unordered(__m512d a, __m512d b) {
    return LaneMask(_mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q));
  }
  /// a in these lanes, b in the others.
  PHYLLO_INLINE_ON_HOST __m512 select(__m512 a, __m512 b) const {
    return _mm512_mask_blend_ps(bits_, b, a);
  }
  PHYLLO_INLINE_ON_HOST __m512d select(__m512d a, __m512d b) const {
    return _mm512_mask_blend_pd(bits_, b, a);
  }
#else
  static PHYLLO_INLINE_ON_HOST LaneMask equal(Vector<A> const& a, Vector<A> const& b) {
    return LaneMask(a == b);
  }
  static PHYLLO_INLINE_ON_HOST LaneMask greater(Vector<A> const& a, Vector<A> const& b) {
    return LaneMask(a > b);
  }
  static PHYLLO_INLINE_ON_HOST LaneMask unordered(Vector<A> const& a, Vector<A> const& b) {
    return LaneMask((a != a) | (b != b));
  }
  PHYLLO_INLINE_ON_HOST Vector<A> select(Vector<A> const& a, Vector<A> const& b) const {
    return bits_ ? a : b;
  }
#endif
  PHYLLO_INLINE_ON_HOST LaneMask operator|(LaneMask other) const {
    return LaneMask(Bits(bits_ | other.bits_));
  }
  /// These lanes but for the others.
  PHYLLO_INLINE_ON_HOST LaneMask without(LaneMask other) const {
    return LaneMask(Bits(bits_ & ~other.bits_));
  }

 private:
  Bits bits_{};
};

}  // namespace phyllo::inline PHYLLO_ISA::host
