// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>

#include <immintrin.h>
#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// AVX-512: 32 registers of 64 bytes, masked loads and stores.
///
/// source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2
struct Avx512 {
  static constexpr char const* name = "AVX-512";
  static constexpr int bytes = 64;
  static constexpr int registers = 32;

  template <class T> struct Lanes;

  static __m512 zero(float) { return _mm512_setzero_ps(); }
  static __m512d zero(double) { return _mm512_setzero_pd(); }
  static __m512 broadcast(float x) { return _mm512_set1_ps(x); }
  static __m512d broadcast(double x) { return _mm512_set1_pd(x); }
  static __m512 load(float const* from) { return _mm512_loadu_ps(from); }
  static __m512d load(double const* from) { return _mm512_loadu_pd(from); }
  static __m512 load(bf16 const* from) { return widened(bits(from), bf16()); }
  static __m512 load(fp16 const* from) { return widened(bits(from), fp16()); }
  static void store(float* to, __m512 v) { _mm512_storeu_ps(to, v); }
  static void store(double* to, __m512d v) { _mm512_storeu_pd(to, v); }
  static __m512 add(__m512 a, __m512 b) { return _mm512_add_ps(a, b); }
  static __m512d add(__m512d a, __m512d b) { return _mm512_add_pd(a, b); }
  /// a b + c, rounded once
  static __m512 multiply_add(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
  static __m512d multiply_add(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
  /// sum = a b + sum
  static void accumulate(__m512& sum, __m512 a, __m512 b) { sum = multiply_add(a, b, sum); }
  static void accumulate(__m512d& sum, __m512d a, __m512d b) { sum = multiply_add(a, b, sum); }

  /// Lane i is lane index[i] of v.
  static __m512 permute(__m512 v, int const* index) {
    return _mm512_permutexvar_ps(_mm512_loadu_si512(index), v);
  }
  static __m512d permute(__m512d v, int const* index) {
    return _mm512_permutexvar_pd(_mm512_cvtepi32_epi64(bits(index)), v);
  }

  /// The first Count lanes; zero in the others, whose memory is not touched.
  template <int Count> static __m512 load_part(float const* from) {
    return _mm512_maskz_loadu_ps(__mmask16((1u << Count) - 1u), from);
  }
  template <int Count> static __m512d load_part(double const* from) {
    return _mm512_maskz_loadu_pd(__mmask8((1u << Count) - 1u), from);
  }
  template <int Count> static __m512 load_part(bf16 const* from) {
    return widened(part_of_bits<Count>(from), bf16());
  }
  template <int Count> static __m512 load_part(fp16 const* from) {
    return widened(part_of_bits<Count>(from), fp16());
  }
  template <int Count> static void store_part(float* to, __m512 v) {
    _mm512_mask_storeu_ps(to, __mmask16((1u << Count) - 1u), v);
  }
  template <int Count> static void store_part(double* to, __m512d v) {
    _mm512_mask_storeu_pd(to, __mmask8((1u << Count) - 1u), v);
  }

 private:
  static __m256i bits(void const* from) {
    return _mm256_loadu_si256(static_cast<__m256i const*>(from));
  }
  template <int Count> static __m256i part_of_bits(void const* from) {
    __m256i part = _mm256_setzero_si256();
    std::memcpy(&part, from, 2 * Count);
    return part;
  }
  static __m512 widened(__m256i x, bf16) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
  }
  static __m512 widened(__m256i x, fp16) { return _mm512_cvtph_ps(x); }
};

template <> struct Avx512::Lanes<float> {
  using type = __m512;
};
template <> struct Avx512::Lanes<double> {
  using type = __m512d;
};

}  // namespace phyllo::inline PHYLLO_ISA::host
