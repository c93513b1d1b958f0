// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ceiling.hpp"
#include "samples.hpp"

#include <phyllo/backend/host/pairs/amx.hpp>
#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/bf16.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <vector>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace perf {

/// What fits into a core's second-level cache on current servers.
inline constexpr double cache_bytes = 1 << 20;

/// What the processor can do at most, measured in the process that is measured against it.
struct ProcessorCeilings {
  int threads = 1;
  double fma = 0;          // FLOP/s in float, all threads
  double bf16 = 0;         // FLOP/s by products of pairs (vdpbf16ps); 0: the target has none
  double amx = 0;          // FLOP/s by matrix registers in bf16; 0: the target has none
  double l2 = 0;           // byte/s read from the second-level cache, one thread
  double triad = 0;        // byte/s of a = b + s c with 3 streams of 64 MiB counted, all threads
  double cache_bytes = 0;  // largest working set that is at least twice as fast as triad

  /// The fastest unit for a precision, whether or not our kernels use it.
  template <class P> Ceiling peak() const {
    if (std::is_same_v<typename P::storage, phyllo::bf16>) {
      if (amx > fma && amx > bf16) return {amx, "amx"};
      if (bf16 > fma) return {bf16, "bf16"};
    }
    return {fma, "fma"};
  }
  /// Of the vector units, in float.
  Ceiling vectors() const { return {fma, "fma"}; }
  Ceiling memory() const { return {triad, "triad"}; }
  Ceiling cache() const { return {l2 * threads, "l2"}; }

  void print() const {
    std::printf(
        "{\"workload\": \"ceiling\", \"threads\": %d, \"fma\": %.6g, \"bf16\": %.6g, \"amx\": "
        "%.6g, \"l2\": %.6g, \"triad\": %.6g, \"cache_bytes\": %.6g, \"instruction_set\": "
        "\"%s\"}\n",
        threads, fma, bf16, amx, l2, triad, cache_bytes, phyllo::host::InstructionSet::name);
  }
};

namespace detail {

using I = phyllo::host::InstructionSet;
constexpr int lanes = phyllo::host::lanes<float>;
constexpr int chains = 12;  // enough for two units of four cycles each

inline double fma_seconds(long count) {
  phyllo::host::Vector<float> sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = I::broadcast(1e-3f * float(i));
  auto const factor = I::broadcast(0.999f), term = I::broadcast(1e-4f);
  double const start = now();
  for (long k = 0; k < count; ++k) {
    PHYLLO_UNROLL
    for (int i = 0; i < chains; ++i) sum[i] = I::multiply_add(sum[i], factor, term);
  }
  double const seconds = now() - start;
  float line[lanes];
  float volatile sink = 0;
  for (int i = 0; i < chains; ++i) {
    I::store(line, sum[i]);
    sink = sink + line[0];
  }
  return seconds;
}

#if defined(__AVX512BF16__)
inline double pairs_seconds(long count) {
  __m512 sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = _mm512_set1_ps(1e-3f * float(i));
  auto const a = (__m512bh)_mm512_set1_epi32(0x3c003c00),
             b = (__m512bh)_mm512_set1_epi32(0x3c013c01);
  double const start = now();
  for (long k = 0; k < count; ++k) {
    PHYLLO_UNROLL
    for (int i = 0; i < chains; ++i) sum[i] = _mm512_dpbf16_ps(sum[i], a, b);
  }
  double const seconds = now() - start;
  float volatile sink = 0;
  for (int i = 0; i < chains; ++i) sink = sink + _mm512_reduce_add_ps(sum[i]);
  return seconds;
}
#endif

#if defined(PHYLLO_HAS_AMX)
inline double amx_seconds(long count) {
  phyllo::host::AmxTiles const tiles;
  alignas(64) static unsigned short const operand[512] = {};
  alignas(64) static thread_local float result[256];
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, operand, 64);
  _tile_loadd(5, operand, 64);
  double const start = now();
  for (long k = 0; k < count; ++k) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  double const seconds = now() - start;
  _tile_stored(0, result, 64);
  return seconds;
}
#endif

// The best of many short runs, in which all threads take part at once.
template <class Run> double best_rate(int threads, double work, Run const& run) {
  double best = 0;
  for (int trial = 0; trial < 60; ++trial) {
    double slowest = 0;
#pragma omp parallel num_threads(threads) reduction(max : slowest)
    {
#pragma omp barrier
      slowest = std::max(slowest, run());
    }
    best = std::max(best, threads * work / slowest);
  }
  return best;
}

}  // namespace detail

inline ProcessorCeilings measure_ceilings() {
  ProcessorCeilings c;
  int const threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  c.threads = threads;
  constexpr long count = 40000;
  c.fma = detail::best_rate(threads, 2.0 * detail::lanes * detail::chains * count,
                            [] { return detail::fma_seconds(count); });
#if defined(__AVX512BF16__)
  c.bf16 = detail::best_rate(threads, 4.0 * detail::lanes * detail::chains * count,
                             [] { return detail::pairs_seconds(count); });
#endif
#if defined(PHYLLO_HAS_AMX)
  if (phyllo::host::AmxTiles::permitted())
    c.amx = detail::best_rate(threads, 2.0 * 16 * 16 * 32 * 4 * 4000,
                              [] { return detail::amx_seconds(4000); });
#endif
  {
    std::vector<float> data(192 * 1024, 1.0f);  // 768 KiB
    double best = 1;
    float volatile sink = 0;
    for (int trial = 0; trial < 40; ++trial) {
      using detail::I;
      phyllo::host::Vector<float> sum[8];
      for (auto& s : sum) s = I::zero(0.0f);
      double const start = now();
      for (int repeat = 0; repeat < 8; ++repeat)
        for (std::size_t i = 0; i < data.size(); i += 8 * detail::lanes)
          for (int k = 0; k < 8; ++k)
            sum[k] = I::add(sum[k], I::load(data.data() + i + std::size_t(k * detail::lanes)));
      best = std::min(best, (now() - start) / 8);
      float line[detail::lanes];
      for (auto& s : sum) {
        I::store(line, s);
        sink = sink + line[0];
      }
    }
    c.l2 = double(data.size() * sizeof(float)) / best;
  }
  {
    constexpr long size = 16l << 20;
    std::vector<float> a(size), b(size), d(size);
    auto const rate = [&](long elements, int repeat) {
      double best = 1e9;
      for (int trial = 0; trial < 8; ++trial) {
        double const start = now();
        for (int r = 0; r < repeat; ++r) {
#pragma omp parallel for num_threads(threads) schedule(static)
          for (long i = 0; i < elements; ++i)
            a[std::size_t(i)] = b[std::size_t(i)] + 0.5f * d[std::size_t(i)];
        }
        if (trial > 0) best = std::min(best, (now() - start) / repeat);
      }
      return 3.0 * double(elements) * sizeof(float) / best;
    };
    c.triad = rate(size, 1);
    for (long elements = 1l << 15; elements < size; elements *= 2) {
      if (rate(elements, int(size / elements / 16) + 1) < 2 * c.triad) break;
      c.cache_bytes = 3.0 * double(elements) * sizeof(float);
    }
  }
  return c;
}

}  // namespace perf
