// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/backend/run_here.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/train/add_shards.hpp>
#include <phyllo/train/gradient_sum.hpp>
#include <phyllo/train/loss_evaluation.hpp>
#include <phyllo/train/shard_map.hpp>

#include <algorithm>

namespace phyllo::inline PHYLLO_ISA {

/// Stores the index of the next samples in the global batch.
struct MoveFirstSample {
  StepState* state = nullptr;
  std::uint64_t first_sample = 0;
  KOKKOS_FUNCTION void operator()(int) const { state->first_sample = first_sample; }
};

/// Stores the running statistics of one shard, to be averaged by its samples; the next shard starts
/// from the same values as all.
template <class A> struct WeighBuffers {
  A samples = 0;
  float* buffers = nullptr;
  float const* before = nullptr;
  A* weighted = nullptr;
  KOKKOS_FUNCTION void operator()(int i) const {
    weighted[i] = A(buffers[i]) * samples;
    buffers[i] = before[i];
  }
};

/// Their mean over all samples; unchanged if there is none.
template <class A> struct MeanBuffers {
  A const* tail = nullptr;  // samples first
  A const* weighted = nullptr;
  float* buffers = nullptr;
  KOKKOS_FUNCTION void operator()(int i) const {
    if (tail[0] > A(0)) buffers[i] = float(weighted[i] / tail[0]);
  }
};

/// Gradients, loss and running statistics of a global batch, shard by shard: bitwise equal for any
/// number of threads and ranks. shard -> gradients, tail, buffers -> rows of subtrees -> all ranks
/// -> sum of all rows
///
/// options  M: a Model · Evaluator: its LossEvaluation · C: a ShardCommunication
/// state    rows (ShardMap::rows, gradients + tail + buffers): at most 2 log2(Shards) of this rank
///          and those of the others. Of micro-batches: a row for each shard of this rank
/// errors   run: a batch that ranks have split differently -> Error
/// numerics statistics of a batch normalisation are those of a shard; running ones are the mean
///          over shards, weighted by samples
template <class M, class Evaluator, class C> class ReproducibleStep {
 public:
  using space = typename M::space;
  using accumulate = typename M::accumulate;
  using Map = ShardMap<typename M::execution, C>;
  static constexpr int shards = Map::shards;
  static constexpr bool alone = std::is_same_v<C, Local>;

  ReproducibleStep(space const& exec, M& model, Evaluator& evaluation, C& communication,
                   bool whole_step)
      : model_(model),
        evaluation_(evaluation),
        communication_(communication),
        label_(model.name() + "/shards"),
        map_(communication),
        accumulated_(label_ + ", accumulated gradients", row_size, map_.last() - map_.first()) {
    auto const allocate = [&](auto& v, char const* what, long size) {
      v = phyllo::allocate<std::decay_t<decltype(v)>>(
          label_ + ", " + what, size, "Use fewer shards: each requires a row of gradients.", exec);
    };
    allocate(rows_, "sums", map_.rows() * row_size);
    allocate(tails_, "tails", whole_step ? long(shards) * M::tail_size : 0);
    allocate(weighted_, "weighted buffers", buffer_size);
    allocate(evaluations_, "evaluations", 4L * shards);
    for (int r = 0; r <= map_.ranks(); ++r) row_bounds_.push_back(map_.first_row(r) * row_size);
    for (int r = 0; r <= map_.ranks(); ++r)
      evaluation_bounds_.push_back(4L * Map::Bits::first_shard(r, map_.ranks()));
    communication_.reserve(exec, row_bounds_.back() * long(sizeof(accumulate)));
  }

  /// Before run and evaluate: tells this rank's samples to all. Whether a rank's weights were
  /// changed since ranks were compared.
  bool split(int batch) { return map_.split(model_.name(), batch, model_.has_changed_weights()); }

  /// Gradients and their tail are those of the global batch and of all micro-batches before it,
  /// buffers as well. Of a micro-batch, `is_part`, the sums of each shard are kept for that step.
  template <bool WholeStep>
  void run(space const& exec, BoundTensors const& in, BoundTensors const& targets, bool is_part) {
    model_.begin_training_pass(exec, std::uint64_t(map_.begin(map_.first())));
    if (is_part) accumulated_.begin(exec);
    if constexpr (WholeStep && Evaluator::takes_pieces())
      pieces(exec, in, targets, is_part);
    else
      one_by_one<WholeStep>(exec, in, targets, is_part);
    if (is_part) return;
    accumulated_.clear();
    if constexpr (!alone) {
      communication_.begin_all_gather(exec, rows_.data(), row_bounds_.data());
      communication_.finish(exec);
    }
    if (map_.ranks() > 1) {
      accumulate* const gradients = model_.gradients().data();
      add_all(exec, {0, M::gradient_size}, gradients);
      if (buffer_size > 0) add_all(exec, {M::gradient_size, buffer_size}, weighted_.data());
    }
    if (buffer_size > 0)
      launch(exec, buffer_size,
             MeanBuffers<accumulate>{tail(), weighted_.data(), model_.buffers().data()});
  }

  /// Micro-batches that the next step adds to its own.
  int accumulated() const { return accumulated_.parts(); }
  void forget_accumulated() { accumulated_.clear(); }

  /// Sums over the samples of all ranks in inference mode: of each shard in the order of samples,
  /// then of shards.
  typename Evaluator::Sums evaluate(space const& exec, BoundTensors const& in,
                                    BoundTensors const& targets) {
    auto const sums = Kokkos::create_mirror(Kokkos::HostSpace{}, evaluations_);
    long n = map_.begin(map_.first());
    int shard = map_.first();
    double const wrong_labels = evaluation_.evaluate_samples(
        exec, in, targets,
        [&](accumulate const* values, accumulate const* correct, accumulate const* shares,
            int count) {
          for (int i = 0; i < count; ++i, ++n) {
            while (n >= map_.begin(shard + 1)) ++shard;
            sums(4 * shard) += shares != nullptr ? double(shares[i]) : 1;
            sums(4 * shard + 1) += double(values[i]);
            sums(4 * shard + 2) += double(correct[i]);
          }
        });
    // Every rank has counted the same labels of steps: the first shard's tells of them.
    if (map_.last() > map_.first())
      sums(4 * map_.first() + 3) =
          wrong_labels + (map_.first() == 0 ? evaluation_.untold_labels(exec) : 0);
    if constexpr (!alone) {
      Kokkos::deep_copy(exec, evaluations_, sums);
      communication_.begin_all_gather(exec, evaluations_.data(), evaluation_bounds_.data());
      communication_.finish(exec);
      Kokkos::deep_copy(exec, sums, evaluations_);
      exec.fence("phyllo/evaluate");
    }
    typename Evaluator::Sums total;
    for (int s = 0; s < shards; ++s) {
      total.samples += sums(4 * s);
      total.value += sums(4 * s + 1);
      total.correct += sums(4 * s + 2);
      total.wrong_labels += sums(4 * s + 3);
    }
    return total;
  }

 private:
  static constexpr int buffer_size = M::nodes.statistics_size;
  static constexpr long row_size = M::gradient_size + buffer_size;
  static constexpr bool on_host = Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible;
  using Add = AddShards<accumulate, shards, on_host ? 1024 : 1>;

  accumulate const* tail() const { return model_.gradients().data() + M::nodes.arena_size; }

  // All shards of this rank at once, a thread for each.
  void pieces(space const& exec, BoundTensors const& in, BoundTensors const& targets,
              bool is_part) {
    int const count = map_.last() - map_.first();
    for (int s = 0; s <= count; ++s)
      begin_[s] = map_.begin(map_.first() + s) - map_.begin(map_.first());
    evaluation_.whole_step_of_pieces(exec, in, targets, begin_, count, tails_.data());
    constexpr long size = M::nodes.arena_size;
    for (int s = 0; s < count; ++s) {
      accumulate* const row = evaluation_.piece_gradients() + s * size;
      accumulate* const tail = tails_.data() + s * M::tail_size;
      accumulate_row(exec, s, row, 0, size, is_part);
      accumulate_row(exec, s, tail, size, M::tail_size, is_part);
    }
    if (is_part) return;
    Part const all{map_.first(), count, 0};
    add(exec, all, {0, size}, evaluation_.piece_gradients(), model_.gradients().data());
    add(exec, all, {size, M::tail_size}, tails_.data(), model_.gradients().data() + size);
  }

  // Every shard as a batch of its own, by all threads.
  template <bool WholeStep>
  void one_by_one(space const& exec, BoundTensors const& in, BoundTensors const& targets,
                  bool is_part) {
    Local one_rank;
    detail::IgnoreFinished ignore;  // gradients are final after the last shard
    int before = 0;
    for (int s = map_.first(); s < map_.last(); ++s) {
      long const first = map_.begin(s) - map_.begin(map_.first());
      int const count = int(map_.begin(s + 1) - map_.begin(s));
      BoundTensors const x = in.from_sample(first, count), t = targets.from_sample(first, count);
      if (Evaluator::draws && s > map_.first())
        launch(exec, 1, MoveFirstSample{model_.state().data(), std::uint64_t(map_.begin(s))});
      if constexpr (WholeStep) {
        evaluation_.whole_step(exec, x, t, first);
      } else {
        auto forward = model_.template forward_pass<Phase::training>(exec, count, one_rank);
        take_inputs(forward, x);
        forward.run_all();
        evaluation_.losses(exec, forward, t, first);
        auto backward = model_.backward_pass(exec, count, one_rank, false, ignore);
        backward.placed = forward.placed;
        backward.run_all();
      }
      int const own = s - map_.first();
      accumulate_row(exec, own, model_.gradients().data(), 0, M::gradient_size, is_part);
      if (!is_part)
        add(exec, {s, 1, before}, {0, M::gradient_size}, model_.gradients().data(),
            model_.gradients().data());
      if (buffer_size > 0) {
        launch(exec, buffer_size,
               WeighBuffers<accumulate>{accumulate(count), model_.buffers().data(),
                                        model_.buffers_before().data(), weighted_.data()});
        accumulate_row(exec, own, weighted_.data(), M::gradient_size, buffer_size, is_part);
        if (!is_part)
          add(exec, {s, 1, before}, {M::gradient_size, buffer_size}, weighted_.data(),
              weighted_.data());
      }
      before += 1 - map_.own_merges()[s - map_.first()];
    }
  }

  // Elements from `first` on of a shard's row: kept for the step, or completed by what was kept.
  // Shards are added over micro-batches before they are added to each other, since ranks have
  // different subtrees.
  void accumulate_row(space const& exec, int shard, accumulate* data, long first, long count,
                      bool is_part) {
    if (is_part)
      accumulated_.add(exec, data, first, count, shard);
    else
      accumulated_.add_to(exec, data - first, first, count, shard);
  }

  // Shards of this rank, behind so many rows that hold sums.
  struct Part {
    int first, count, before;
  };
  // Elements of a row.
  struct Elements {
    long first, size;
  };

  // The sums of shards into rows; of a rank that is alone, the last one into the result.
  void add(space const& exec, Part const& part, Elements const& e, accumulate const* sums,
           accumulate* result) {
    bool const last = map_.ranks() == 1 && part.first + part.count == shards;
    add(exec, map_.own_row(), part, e, sums, e.size, map_.own_merges() + part.first - map_.first(),
        last ? result : nullptr);
  }
  // The rows of all ranks into the result.
  void add_all(space const& exec, Elements const& e, accumulate* result) {
    add(exec, 0, {0, map_.all_rows(), 0}, e, rows_.data() + e.first, row_size, map_.all_merges(),
        result);
  }
  void add(space const& exec, int row, Part const& part, Elements const& e, accumulate const* sums,
           long stride, unsigned char const* merges, accumulate* result) {
    constexpr int run = Add::run;
    Add work{sums,       stride,     rows_.data() + row * row_size + e.first,
             row_size,   result,     e.size,
             part.count, part.before};
    std::copy_n(merges, part.count, work.merges);
    launch(exec, (e.size + run - 1) / run, work);
  }

  // To start the other threads takes as long as one thread takes for a few items.
  template <class Functor>
  void launch(space const& exec, long count, Functor const& functor) const {
    if constexpr (in_order<space>) {
      if (count <= 8) return run_here(exec, label_, int(count), functor);
    }
    Kokkos::parallel_for(launch_label(label_),
                         by_argument(Kokkos::RangePolicy<space>(exec, 0, int(count))), functor);
  }

  M& model_;
  Evaluator& evaluation_;
  C& communication_;
  std::string label_;
  Map map_;
  typename M::template Vector<accumulate> rows_;      // (rows, gradients + tail + buffers)
  typename M::template Vector<accumulate> tails_;     // of pieces
  typename M::template Vector<accumulate> weighted_;  // buffers of one shard by its samples
  typename M::template Vector<double> evaluations_;   // (shards, 4): those of Evaluator::Sums
  GradientSum<accumulate, space> accumulated_;        // (shards of this rank, row_size)
  std::vector<long> row_bounds_, evaluation_bounds_;  // of ranks
  long begin_[shards + 1] = {};                       // of this rank's shards in its batch
};

}  // namespace phyllo::inline PHYLLO_ISA
