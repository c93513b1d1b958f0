// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/op/loss.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Sums of two runs of numbers, in `parts`: each thread of a block adds every so many numbers of a
/// part, and what threads have meets in scratch memory, half to half.
///
/// shape    values, correct (size) · value_sums, correct_sums (parts)
/// options  Lanes: of a warp
/// numerics an order that size and parts decide, the same on every device
template <int Lanes, class A> struct loss_sum {
  static constexpr int threads = 256;
  static constexpr int warps = threads / Lanes;
  static constexpr int scratch_bytes = 2 * threads * int(sizeof(A));

  A const* values = nullptr;
  A const* correct = nullptr;  // nullptr: their sums are zero
  long size = 0;
  int parts = 1;
  A* value_sums = nullptr;
  A* correct_sums = nullptr;
  A* samples = nullptr;  // where `batch` goes, or nullptr
  A batch = 0;
  op::LabelSearch<A> labels = {};  // with `samples`

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    A* const value = reinterpret_cast<A*>(team.scratch);
    A* const right = value + threads;
    for (int part = team.block(); part < parts; part += team.blocks()) {
      for (int t = 0; t < Team::threads_here; ++t) {
        int const thread = team.first_thread() + t;
        A value_sum = 0, correct_sum = 0;
        for (long n = size * part / parts + thread; n < size * (part + 1) / parts; n += threads) {
          value_sum += values[n];
          if (correct != nullptr) correct_sum += correct[n];
        }
        value[thread] = value_sum;
        right[thread] = correct_sum;
      }
      team.barrier();
      for (int half = threads / 2; half > 0; half /= 2) {
        for (int t = 0; t < Team::threads_here; ++t) {
          int const thread = team.first_thread() + t;
          if (thread >= half) continue;
          value[thread] += value[thread + half];
          right[thread] += right[thread + half];
        }
        team.barrier();
      }
      for (int t = 0; t < Team::threads_here; ++t) {
        if (team.first_thread() + t > 0) continue;
        value_sums[part] = value[0];
        correct_sums[part] = right[0];
        if (samples == nullptr) continue;
        *samples = batch;
        if (labels.found != nullptr)
          samples[op::Tail::wrong_labels] = labels.count(value_sums[part]);
      }
      team.barrier();
    }
  }
};

/// Sums of losses by blocks of threads: by one where that reads its numbers sooner than others are
/// started, else by several and then one that adds theirs.
///
/// options  Device: as in SegmentKernels
template <class Device, class P> struct LossSumKernels {
  using A = typename P::accumulate;
  using Work = op::LossSum<P>;
  using Kernel = loss_sum<Device::template MmaAtom<float>::lanes, A>;
  static constexpr long samples_of_block = 16L * Kernel::threads;

  template <class Space>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    long const blocks = (work.batch + samples_of_block - 1) / samples_of_block;
    int const parts = int(blocks < Work::blocks ? blocks : Work::blocks);
    Kernel all{work.values,   work.correct, work.batch,    1,          work.sums + 1,
               work.sums + 2, work.sums,    A(work.batch), work.labels};
    if (parts > 1) {
      A *const values = work.partial, *const correct = work.partial + Work::blocks;
      Device::launch(
          exec, label,
          Kernel{work.values, work.correct, work.batch, parts, values, correct, nullptr, A(0)},
          parts);
      all.values = values;
      all.correct = correct;
      all.size = parts;
    }
    Device::launch(exec, label, all, 1);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
