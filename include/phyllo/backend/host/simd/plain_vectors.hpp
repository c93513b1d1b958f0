// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Vectors of 16 bytes as GCC and Clang have them for every processor.
struct PlainVectors {
  static constexpr char const* name = "vectors of 16 bytes";
  static constexpr int bytes = 16;
#if defined(__aarch64__)
  static constexpr int registers = 32;
#else
  static constexpr int registers = 16;
#endif

  template <class T> struct Lanes {
    typedef T type __attribute__((vector_size(16)));
  };
  template <class T> using Vector = typename Lanes<T>::type;
  using Floats = Vector<float>;
  using Doubles = Vector<double>;

  static Floats zero(float) { return Floats{}; }
  static Doubles zero(double) { return Doubles{}; }
  static Floats broadcast(float x) { return Floats{x, x, x, x}; }
  static Doubles broadcast(double x) { return Doubles{x, x}; }
  static Floats load(float const* from) { return load_part<4>(from); }
  static Doubles load(double const* from) { return load_part<2>(from); }
  static Floats load(bf16 const* from) { return load_part<4>(from); }
  static Floats load(fp16 const* from) { return load_part<4>(from); }
  static void store(float* to, Floats v) { __builtin_memcpy(to, &v, sizeof(v)); }
  static void store(double* to, Doubles v) { __builtin_memcpy(to, &v, sizeof(v)); }
  static Floats add(Floats a, Floats b) { return a + b; }
  static Doubles add(Doubles a, Doubles b) { return a + b; }
  /// a b + c, rounded as the compiler contracts it
  static Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
  static Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return a * b + c; }
  /// sum = a b + sum
  static void accumulate(Floats& sum, Floats a, Floats b) { sum = multiply_add(a, b, sum); }
  static void accumulate(Doubles& sum, Doubles a, Doubles b) { sum = multiply_add(a, b, sum); }

  /// Lane i is lane index[i] of v.
  static Floats permute(Floats v, int const* index) {
    return Floats{v[index[0]], v[index[1]], v[index[2]], v[index[3]]};
  }
  static Doubles permute(Doubles v, int const* index) { return Doubles{v[index[0]], v[index[1]]}; }

  /// The first Count lanes; zero in the others, whose memory is not touched.
  template <int Count> static Floats load_part(float const* from) {
    Floats v{};
    __builtin_memcpy(&v, from, Count * sizeof(float));
    return v;
  }
  template <int Count> static Doubles load_part(double const* from) {
    Doubles v{};
    __builtin_memcpy(&v, from, Count * sizeof(double));
    return v;
  }
  template <int Count> static Floats load_part(bf16 const* from) {
    Floats v{};
    for (int i = 0; i < Count; ++i) v[i] = float(from[i]);
    return v;
  }
  template <int Count> static Floats load_part(fp16 const* from) {
    Floats v{};
    for (int i = 0; i < Count; ++i) v[i] = float(from[i]);
    return v;
  }
  template <int Count> static void store_part(float* to, Floats v) {
    __builtin_memcpy(to, &v, Count * sizeof(float));
  }
  template <int Count> static void store_part(double* to, Doubles v) {
    __builtin_memcpy(to, &v, Count * sizeof(double));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
