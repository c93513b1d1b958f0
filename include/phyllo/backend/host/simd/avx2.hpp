// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>

#include <immintrin.h>
#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// AVX2 with fused multiply-add: 16 registers of 32 bytes.
///
/// source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2
struct Avx2 {
  static constexpr char const* name = "AVX2";
  static constexpr int bytes = 32;
  static constexpr int registers = 16;

  template <class T> struct Lanes;

  static __m256 zero(float) { return _mm256_setzero_ps(); }
  static __m256d zero(double) { return _mm256_setzero_pd(); }
  static __m256 broadcast(float x) { return _mm256_set1_ps(x); }
  static __m256d broadcast(double x) { return _mm256_set1_pd(x); }
  static __m256 load(float const* from) { return _mm256_loadu_ps(from); }
  static __m256d load(double const* from) { return _mm256_loadu_pd(from); }
  static __m256 load(bf16 const* from) { return load_part<8>(from); }
  static __m256 load(fp16 const* from) { return load_part<8>(from); }
  static void store(float* to, __m256 v) { _mm256_storeu_ps(to, v); }
  static void store(double* to, __m256d v) { _mm256_storeu_pd(to, v); }
  static __m256 add(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
  static __m256d add(__m256d a, __m256d b) { return _mm256_add_pd(a, b); }
  /// a b + c, rounded once
  static __m256 multiply_add(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
  static __m256d multiply_add(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }

  /// sum = a b + sum, rounded once, in the register of sum: GCC takes that of a factor otherwise,
  /// and of blocks that fill the registers keeps a sum in memory.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
  static void accumulate(__m256& sum, __m256 a, __m256 b) {
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  }
  static void accumulate(__m256d& sum, __m256d a, __m256d b) {
    __asm__("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  }
#else
  static void accumulate(__m256& sum, __m256 a, __m256 b) { sum = multiply_add(a, b, sum); }
  static void accumulate(__m256d& sum, __m256d a, __m256d b) { sum = multiply_add(a, b, sum); }
#endif

  /// Lane i is lane index[i] of v.
  static __m256 permute(__m256 v, int const* index) {
    return _mm256_permutevar8x32_ps(v, _mm256_loadu_si256(reinterpret_cast<__m256i const*>(index)));
  }
  static __m256d permute(__m256d v, int const* index) {
    alignas(32) double line[4];
    store(line, v);
    return _mm256_setr_pd(line[index[0]], line[index[1]], line[index[2]], line[index[3]]);
  }

  /// The first Count lanes; zero in the others, whose memory is not touched.
  template <int Count> static __m256 load_part(float const* from) {
    return _mm256_maskload_ps(from, float_mask<Count>());
  }
  template <int Count> static __m256d load_part(double const* from) {
    return _mm256_maskload_pd(from, double_mask<Count>());
  }
  template <int Count> static __m256 load_part(bf16 const* from) {
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(part_of_bits<Count>(from)), 16));
  }
  template <int Count> static __m256 load_part(fp16 const* from) {
#if defined(__F16C__)
    return _mm256_cvtph_ps(part_of_bits<Count>(from));
#else
    alignas(32) float line[8] = {};
    for (int i = 0; i < Count; ++i) line[i] = float(from[i]);
    return load(line);
#endif
  }
  // In halves and quarters: a store under a mask takes AMD's processors 18 cycles.
  template <int Count> static void store_part(float* to, __m256 v) {
    if constexpr (Count == 8) return store(to, v);
    __m128 half = _mm256_castps256_ps128(v);
    if constexpr (Count >= 4) {
      _mm_storeu_ps(to, half);
      half = _mm256_extractf128_ps(v, 1);
    }
    constexpr int whole = Count / 4 * 4, pair = Count / 2 * 2;
    if constexpr (pair > whole) {
      _mm_storel_pi(reinterpret_cast<__m64*>(to + whole), half);
      half = _mm_movehl_ps(half, half);
    }
    if constexpr (Count > pair) _mm_store_ss(to + pair, half);
  }
  template <int Count> static void store_part(double* to, __m256d v) {
    if constexpr (Count == 4) return store(to, v);
    __m128d half = _mm256_castpd256_pd128(v);
    if constexpr (Count >= 2) {
      _mm_storeu_pd(to, half);
      half = _mm256_extractf128_pd(v, 1);
    }
    if constexpr (Count % 2 != 0) _mm_store_sd(to + Count / 2 * 2, half);
  }

 private:
  template <int Count> static __m128i part_of_bits(void const* from) {
    __m128i part = _mm_setzero_si128();
    std::memcpy(&part, from, 2 * Count);
    return part;
  }
  // The sign of a lane says whether it takes part.
  template <int Count> static __m256i float_mask() {
    return _mm256_setr_epi32(-(Count > 0), -(Count > 1), -(Count > 2), -(Count > 3), -(Count > 4),
                             -(Count > 5), -(Count > 6), -(Count > 7));
  }
  template <int Count> static __m256i double_mask() {
    return _mm256_setr_epi64x(-(Count > 0), -(Count > 1), -(Count > 2), -(Count > 3));
  }
};

template <> struct Avx2::Lanes<float> {
  using type = __m256;
};
template <> struct Avx2::Lanes<double> {
  using type = __m256d;
};

}  // namespace phyllo::inline PHYLLO_ISA::host
