// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <03_reaction_diffusion/source_network.hpp>

#include <string>
#include <utility>

namespace perf {

/// Rows of one table into the first rows of another.
struct GatherRows {
  Samples from, to;
  Kokkos::View<long*> indices;

  KOKKOS_FUNCTION void operator()(int n) const {
    for (int i = 0; i < int(from.extent(1)); ++i) to(n, i) = from(indices(n), i);
  }
};

/// The source of example 03's solver: its network, batch, fields and rule. Held out are snapshots
/// of a run that began elsewhere.
class SourceProblem {
 public:
  using Network = SourceNetwork;
  using Loss = phyllo::MeanSquaredError;
  using Rule = phyllo::Adam;
  static constexpr char const* name = "source";
  static constexpr long batch = 1024;  // of all ranks

  SourceProblem(std::string const&, long largest_part)
      : inputs_(table("inputs", training_snapshots * snapshot)),
        targets_(table("targets", training_snapshots * snapshot)),
        held_out_inputs_(table("held-out inputs", held_out_snapshots * snapshot)),
        held_out_targets_(table("held-out targets", held_out_snapshots * snapshot)),
        batch_inputs_(table("batch inputs", largest_part)),
        batch_targets_(table("batch targets", largest_part)) {
    record_run(1, training_snapshots, inputs_, targets_);
    record_run(2, held_out_snapshots, held_out_inputs_, held_out_targets_);
  }

  static Rule rule(std::uint64_t steps, float rate_factor) {
    return {.rate = rate_factor * 5e-3f, .schedule = phyllo::cosine_schedule(steps)};
  }
  long samples() const { return long(inputs_.extent(0)); }
  long held_out() const { return long(held_out_inputs_.extent(0)); }

  void gather(Space const& exec, Kokkos::View<long*> indices, long count) {
    Kokkos::RangePolicy const range(exec, 0, int(count));
    Kokkos::parallel_for("gather inputs", range, GatherRows{inputs_, batch_inputs_, indices});
    Kokkos::parallel_for("gather targets", range, GatherRows{targets_, batch_targets_, indices});
  }
  Samples inputs(long count) const { return rows(batch_inputs_, {0, count}); }
  Samples targets(long count) const { return rows(batch_targets_, {0, count}); }
  Samples held_out_inputs(std::pair<long, long> range) const {
    return rows(held_out_inputs_, range);
  }
  Samples held_out_targets(std::pair<long, long> range) const {
    return rows(held_out_targets_, range);
  }

 private:
  static constexpr int cells = 64, every = 80;  // in each direction; steps between snapshots
  static constexpr long snapshot = cells * cells;
  static constexpr long training_snapshots = 25, held_out_snapshots = 5;

  static Samples table(char const* label, long count) { return {label, std::size_t(count), 2}; }
  static Samples rows(Samples const& of, std::pair<long, long> range) {
    return Kokkos::subview(of, range, Kokkos::ALL);
  }
  // Snapshots of a run of 2,000 steps, the last one at its end.
  static void record_run(std::uint32_t seed, long snapshots, Samples const& inputs,
                         Samples const& targets) {
    Space const exec;
    State now("now", cells), next("next", cells);
    begin(exec, now, seed);
    long const stride = training_snapshots / snapshots * every;
    for (long step = 1; step <= snapshots * stride; ++step) {
      advance(exec, GrayScott{}, now, next);
      if (step % stride == 0)
        record(exec, now, next, inputs, targets, int((step / stride - 1) * snapshot));
      std::swap(now, next);
    }
    exec.fence("record");
  }

  Samples inputs_, targets_, held_out_inputs_, held_out_targets_;
  Samples batch_inputs_, batch_targets_;
};

}  // namespace perf
