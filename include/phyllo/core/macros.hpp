// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Whether code is compiled for a GPU in this pass of the compiler.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define PHYLLO_ON_DEVICE 1
#else
#define PHYLLO_ON_DEVICE 0
#endif

#include <phyllo/core/requirements.hpp>

#include <Kokkos_Macros.hpp>

// Every macro of the library is defined here, but for the version (core/version.hpp).

// The inline namespace of everything below `phyllo`: the vector instructions that the compiler may
// use. Two objects of one program that were compiled for different processors then share no
// function, and a Model that is passed from one to the other is a link error, which names both
// instruction sets. So are objects compiled with -ffast-math, whose functions see no NaN. A GPU's
// compiler has one name for its passes on host and device, where these macros may differ.
#if defined(__CUDACC__) || defined(__NVCC__)
#define PHYLLO_ISA for_cuda
#elif defined(__HIPCC__) || defined(__HIP__)
#define PHYLLO_ISA for_hip
#elif defined(__AVX512F__) && defined(__AMX_TILE__) && defined(__AMX_BF16__)
#define PHYLLO_INSTRUCTIONS amx
#elif defined(__AVX512F__) && defined(__AVX512BF16__)
#define PHYLLO_INSTRUCTIONS avx512_bf16
#elif defined(__AVX512F__)
#define PHYLLO_INSTRUCTIONS avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define PHYLLO_INSTRUCTIONS avx2
#elif defined(__AVX__)
#define PHYLLO_INSTRUCTIONS avx
#elif defined(__x86_64__) || defined(_M_X64)
#define PHYLLO_INSTRUCTIONS sse2
#elif defined(__ARM_FEATURE_SVE)
#define PHYLLO_INSTRUCTIONS sve
#elif defined(__aarch64__)
#define PHYLLO_INSTRUCTIONS neon
#else
#define PHYLLO_INSTRUCTIONS baseline
#endif
#define PHYLLO_JOINED_OF(first, second) first##second
#define PHYLLO_JOINED(first, second) PHYLLO_JOINED_OF(first, second)
#if defined(PHYLLO_INSTRUCTIONS) && \
    (defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0))
#define PHYLLO_ISA PHYLLO_JOINED(PHYLLO_INSTRUCTIONS, _fast_math)
#elif defined(PHYLLO_INSTRUCTIONS)
#define PHYLLO_ISA PHYLLO_INSTRUCTIONS
#endif
#define PHYLLO_TEXT_OF(name) #name
#define PHYLLO_TEXT(name) PHYLLO_TEXT_OF(name)

// Name and version of the compiler.
#if defined(__NVCC__) && defined(__CUDACC_VER_MAJOR__)
#define PHYLLO_COMPILER \
  "nvcc " PHYLLO_TEXT(__CUDACC_VER_MAJOR__) "." PHYLLO_TEXT(__CUDACC_VER_MINOR__)
#elif defined(__HIP__)
#define PHYLLO_COMPILER "HIP, Clang " __clang_version__
#elif defined(__clang__)
#define PHYLLO_COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define PHYLLO_COMPILER "GCC " __VERSION__
#elif defined(_MSC_VER)
#define PHYLLO_COMPILER "MSVC " PHYLLO_TEXT(_MSC_VER)
#else
#define PHYLLO_COMPILER "unknown compiler 0"
#endif

// A function that kernels and the host may call.
#define PHYLLO_FUNCTION KOKKOS_FUNCTION

// The same, inlined even where the compiler's own limits say no: for the innermost loop bodies.
// Without optimisation they are ordinary functions on a host: compilation takes a tenth less time,
// and a debugger can step through them.
#if defined(__GNUC__) && !defined(__OPTIMIZE__) && !defined(__CUDACC__) && !defined(__HIP__)
#define PHYLLO_INLINE KOKKOS_INLINE_FUNCTION
#else
#define PHYLLO_INLINE KOKKOS_FORCEINLINE_FUNCTION
#endif

// The same for the host alone: its vector types are an error where nvcc may make device code.
#if defined(__GNUC__) && (defined(__OPTIMIZE__) || defined(__CUDACC__))
#define PHYLLO_INLINE_ON_HOST inline __attribute__((always_inline))
#else
#define PHYLLO_INLINE_ON_HOST inline
#endif

// Before a loop over what the caller gives: on a host it is inlined too, however long, or the loop
// does not become vectors.
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__CUDACC__) && !defined(__HIP__)
#define PHYLLO_FLATTEN __attribute__((flatten))
#else
#define PHYLLO_FLATTEN
#endif

// A function that stays one, so that what its callers keep in registers does not push out its own.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__NVCC__)
#define PHYLLO_NOINLINE __attribute__((noinline, noclone))
#elif defined(__GNUC__)
#define PHYLLO_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define PHYLLO_NOINLINE __declspec(noinline)
#else
#define PHYLLO_NOINLINE
#endif

// A function whose vectors of 64 bytes stay whole. Clang splits them into halves unless
// -mprefer-vector-width=512 is passed, and twice as many registers are spilled to memory.
#if defined(__clang__) && defined(__AVX512F__)
#define PHYLLO_WHOLE_VECTORS __attribute__((min_vector_width(512)))
#else
#define PHYLLO_WHOLE_VECTORS
#endif

// Before a loop of a few compile-time iterations whose arrays have to stay in registers.
// nvcc's host pass warns of both spellings.
#if defined(__CUDA_ARCH__) || (defined(__clang__) && !defined(__NVCC__))
#define PHYLLO_UNROLL _Pragma("unroll")
#elif defined(__NVCC__)
#define PHYLLO_UNROLL
#elif defined(__GNUC__)
#define PHYLLO_UNROLL _Pragma("GCC unroll 16")
#else
#define PHYLLO_UNROLL
#endif

// The same in functions of the host alone. nvcc passes the pragma on to the host's compiler, after
// a warning that backend/host/backend.hpp switches off.
#if defined(__NVCC__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
#define PHYLLO_UNROLL_ON_HOST _Pragma("GCC unroll 16")
#else
#define PHYLLO_UNROLL_ON_HOST PHYLLO_UNROLL
#endif

// Whether the target rounds a product and its sum once; compilers then contract as they see fit,
// and two kernels of one formula agree to rounding only.
#if defined(__FMA__) || defined(__aarch64__)
#define PHYLLO_FUSES_MULTIPLY_ADD true
#else
#define PHYLLO_FUSES_MULTIPLY_ADD false
#endif

// The root of a number's size by the processor's instruction, in loops that become vectors: GCC
// from 16 on sees that the C library's function would not set errno, and Clang has a function that
// never does. Not defined for other compilers.
#if defined(__clang__) && !defined(__NVCC__)
#if __has_builtin(__builtin_elementwise_sqrt)
#define PHYLLO_ROOT_OF_SIZE(x) __builtin_elementwise_sqrt(__builtin_elementwise_abs(x))
#endif
#elif defined(__GNUC__) && __GNUC__ >= 16 && !defined(__NVCC__)
#define PHYLLO_ROOT_OF_SIZE(x) \
  (sizeof(x) == 4 ? __builtin_sqrtf(__builtin_fabsf(x)) : __builtin_sqrt(__builtin_fabs(x)))
#endif

// Before a loop over independent numbers: GCC makes vectors of `width` of them. Clang finds such
// loops by itself, and warns of a pragma that it cannot follow. PHYLLO_SIMD_SUM: before a loop that
// adds to `sum`, in an order of the compiler's choice.
#define PHYLLO_PRAGMA(text) _Pragma(#text)
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCC__)
#define PHYLLO_SIMD(width) PHYLLO_PRAGMA(omp simd simdlen(width))
#define PHYLLO_SIMD_SUM(width, sum) PHYLLO_PRAGMA(omp simd simdlen(width) reduction(+ : sum))
#define PHYLLO_HAS_SIMD_SUMS true
#else
#define PHYLLO_SIMD(width)
#define PHYLLO_SIMD_SUM(width, sum)
#define PHYLLO_HAS_SIMD_SUMS false
#endif

// The same in device code only, where an array that is indexed at run time leaves the registers;
// on a host the vectoriser does better with the loop as it stands.
#if PHYLLO_ON_DEVICE
#define PHYLLO_UNROLL_ON_DEVICE _Pragma("unroll")
#define PHYLLO_ROLLED_ON_DEVICE _Pragma("unroll 1")
#else
#define PHYLLO_UNROLL_ON_DEVICE
#define PHYLLO_ROLLED_ON_DEVICE
#endif

// Whether calls inside kernels check what only run time shows: in debug builds.
#if !defined(NDEBUG) || defined(KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK)
#define PHYLLO_CHECKS_CALLS 1
#else
#define PHYLLO_CHECKS_CALLS 0
#endif

// Where lanes of a wavefront read what others of it wrote to scratch memory. NVIDIA's lanes meet in
// Kokkos' own loops over vector lanes; AMD's run in step, and only the compiler has to be told.
#if defined(__HIP_DEVICE_COMPILE__)
#define PHYLLO_LANES_MEET() \
  (__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront"), __builtin_amdgcn_wave_barrier())
#else
#define PHYLLO_LANES_MEET() static_cast<void>(0)
#endif

// Whether the compiler may reorder sums, which undoes the roundings that core/elementary.hpp rests
// on.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
#define PHYLLO_REORDERS_SUMS true
#else
#define PHYLLO_REORDERS_SUMS false
#endif

// Whether the flags of the compiler select narrower vectors than nearly all processors of this kind
// have: x86-64 without AVX2, which processors have had since 2013.
#if (defined(__x86_64__) || defined(_M_X64)) && !(defined(__AVX2__) && defined(__FMA__))
#define PHYLLO_HAS_NARROW_VECTORS true
#else
#define PHYLLO_HAS_NARROW_VECTORS false
#endif

// Bytes and number of the vector registers of a processor's compiler that has types for them.
#if !defined(__GNUC__) || defined(__CUDACC__) || defined(__HIPCC__)
#define PHYLLO_VECTOR_BYTES 0
#define PHYLLO_VECTOR_REGISTERS 0
#elif defined(__AVX512F__)
#define PHYLLO_VECTOR_BYTES 64
#define PHYLLO_VECTOR_REGISTERS 32
#elif defined(__AVX__)
#define PHYLLO_VECTOR_BYTES 32
#define PHYLLO_VECTOR_REGISTERS 16
#elif defined(__aarch64__)
#define PHYLLO_VECTOR_BYTES 16
#define PHYLLO_VECTOR_REGISTERS 32
#else
#define PHYLLO_VECTOR_BYTES 16
#define PHYLLO_VECTOR_REGISTERS 16
#endif
