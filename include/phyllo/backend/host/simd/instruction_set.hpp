// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#if defined(__AVX512F__)
#include <phyllo/backend/host/simd/avx512.hpp>
#elif defined(__AVX2__) && defined(__FMA__)
#include <phyllo/backend/host/simd/avx2.hpp>
#else
#include <phyllo/backend/host/simd/plain_vectors.hpp>
#endif

namespace phyllo::inline PHYLLO_ISA::host {

/// The widest vectors of the compiler's target.
#if defined(__AVX512F__)
using InstructionSet = Avx512;
#elif defined(__AVX2__) && defined(__FMA__)
using InstructionSet = Avx2;
#else
using InstructionSet = PlainVectors;
#endif

template <class T> using Vector = typename InstructionSet::template Lanes<T>::type;
template <class T> inline constexpr int lanes = InstructionSet::bytes / int(sizeof(T));

/// Smallest number of vectors that hold `count` numbers.
template <class T> constexpr int vectors_of(int count) { return (count + lanes<T> - 1) / lanes<T>; }

}  // namespace phyllo::inline PHYLLO_ISA::host
