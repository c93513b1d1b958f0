// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/chunk_sums.hpp>
#include <phyllo/backend/gpu/normalization_chunks.hpp>
#include <phyllo/backend/gpu/product/column_sums.hpp>
#include <phyllo/backend/portable/normalization.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Numbers, or their centred squares where the sums of the numbers are known.
template <class Chain, class P> struct StatisticsValues {
  static constexpr int quantities = 1;
  typename op::Normalization<Chain>::template Sum<P> work;

  PHYLLO_INLINE void operator()(long row, int c, float (&sum)[1]) const {
    float const x = float(work.x[row * work.channels + c]);
    bool const centered = work.mean_sums != nullptr && work.mean_sums[work.channels] != 0;
    float const d = centered ? x - work.mean_sums[c] / work.mean_sums[work.channels] : x;
    sum[0] += centered ? d * d : d;
  }
};

/// Gradients behind the normalisation, and these times the normalised numbers.
template <class Chain, class P> struct NormalizationGradientValues {
  static constexpr int quantities = 2;
  typename op::Normalization<Chain>::template BackwardSums<P> work;

  PHYLLO_INLINE void operator()(long row, int c, float (&sum)[2]) const {
    float x_hat = 0;
    float const g =
        portable::normalization_gradient<Chain, float>(work, row * work.channels + c, x_hat);
    sum[0] += g;
    sum[1] += g * x_hat;
  }
};

/// Adds the sums of blocks of rows: a block of threads has 32 channels, of which each thread adds
/// some sums; these meet in scratch memory, half to half.
///
/// options  Lanes: of a warp · Combine: portable::normalization_combine
template <int Lanes, class Combine> struct combine_by_blocks {
  using A = typename Combine::A;
  static constexpr int wide = 32, high = 8;
  static constexpr int threads = wide * high;
  static constexpr int warps = threads / Lanes;
  static constexpr int scratch_bytes = threads * int(sizeof(A));
  static_assert(Combine::row_blocks % high == 0);

  Combine work;

  PHYLLO_INLINE int blocks() const { return (work.count + wide - 1) / wide; }

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    constexpr int each = Combine::row_blocks / high;
    auto* const of_threads = reinterpret_cast<A*>(team.scratch);
    for (int block = team.block(); block < blocks(); block += team.blocks()) {
      int const first = block * wide;
      for (int t = 0; t < Team::threads_here; ++t) {
        int const thread = team.first_thread() + t;
        int const c = first + thread % wide, b = thread / wide * each;
        of_threads[thread] = c < work.count ? work.add(c, b, b + each) : A(0);
      }
      team.barrier();
      for (int half = threads / 2; half >= wide; half /= 2) {
        for (int t = 0; t < Team::threads_here; ++t) {
          int const thread = team.first_thread() + t;
          if (thread < half) of_threads[thread] += of_threads[thread + half];
        }
        team.barrier();
      }
      for (int t = 0; t < Team::threads_here; ++t) {
        int const thread = team.first_thread() + t;
        if (thread < wide && first + thread < work.count)
          work.write(first + thread, of_threads[thread]);
      }
      team.barrier();
    }
  }
};

/// Batch normalisation: sums over rows by blocks that read whole lines of memory. Where rows
/// consist of chunks of 16 bytes, threads read and write these; else numbers, as `portable` does.
///
/// options  Device: as in SegmentKernels
template <class Device, class Chain, class P>
struct NormalizationKernels : portable::Kernels<op::Normalization<Chain>, P> {
  using Op = op::Normalization<Chain>;
  using S = typename P::storage;
  using Portable = portable::Kernels<Op, P>;
  static constexpr int lanes = Device::template MmaAtom<typename P::storage>::lanes;
  using Portable::run;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Sum<P> const& work) {
    if (Chunk<S>::divides(work.channels, work.x))
      sum(exec, label, chunk_sums<lanes, StatisticsChunks<Chain, P>>{{work}}, work);
    else
      sum(exec, label, column_sums<lanes, StatisticsValues<Chain, P>>{{work}}, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardSums<P> const& work) {
    if (Chunk<S>::divides(work.channels, work.x, work.d_y, work.y, work.added))
      sum(exec, label, chunk_sums<lanes, NormalizationGradientChunks<Chain, P>>{{work}}, work);
    else
      sum(exec, label, column_sums<lanes, NormalizationGradientValues<Chain, P>>{{work}}, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    ChunkRows<S> const over(long(work.batch) * work.positions, work.channels);
    if (over.can_count() && Chunk<S>::divides(work.channels, work.x, work.y, work.added))
      portable::launch(exec, label, over.items(), normalize_chunks<Chain, P>{{work}, over});
    else
      Portable::run(exec, label, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    ChunkRows<S> const over(long(work.batch) * work.positions, work.channels);
    if (over.can_count() && Chunk<S>::divides(work.channels, work.x, work.d_y, work.y, work.added,
                                              work.d_x, work.d_added))
      portable::launch(exec, label, over.items(), differentiate_chunks<Chain, P>{{work}, over});
    else
      Portable::run(exec, label, work);
  }

 private:
  template <class Space, class Sums, class Work>
  static void sum(Space const& exec, std::string const& label, Sums kernel, Work const& work) {
    kernel.sums = work.partial;
    kernel.rows = long(work.batch) * work.positions;
    kernel.columns = work.channels;
    kernel.parts = Op::row_blocks;
    Device::launch(exec, label, kernel, kernel.blocks());
    combine_by_blocks<lanes, typename Portable::Combine> const combine{Portable::combine(work)};
    Device::launch(exec, label, combine, combine.blocks());
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
