// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/run_here.hpp>
#include <phyllo/fit/agreed_clock.hpp>
#include <phyllo/fit/agreed_error.hpp>
#include <phyllo/fit/checkpoints.hpp>
#include <phyllo/fit/evaluate.hpp>
#include <phyllo/fit/fit_log.hpp>
#include <phyllo/fit/fit_profile.hpp>
#include <phyllo/fit/measure.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Adds the loss of a step that counted to the sums of an epoch: samples, loss, correct
/// predictions, steps that counted, steps that were skipped. The first step with late gradients has
/// no samples and is neither.
template <class A> struct AddStepLoss {
  static constexpr int count = 5;
  A const* tail = nullptr;  // op::Tail
  StepState const* state = nullptr;
  double* sums = nullptr;  // (count)

  KOKKOS_FUNCTION void operator()(int) const {
    bool const counts = state->finite != 0;
    if (counts) {
      sums[0] += double(tail[op::Tail::samples]);
      sums[1] += double(tail[op::Tail::loss]);
      sums[2] += double(tail[op::Tail::correct]);
    }
    if (tail[op::Tail::samples] > A(0)) sums[counts ? 3 : 4] += 1;
  }
};

namespace detail {

struct NoHeldOut {};
struct NoCallback {};

// What `fit` does around each step; all of it by public calls of trainer and batches.
template <class T, class B> class FitRun {
  using M = typename T::ModelType;
  using Add = AddStepLoss<typename M::accumulate>;
  using Clock = std::chrono::steady_clock;
  static constexpr bool resumes = has_checkpoints<typename T::communication_type>;

 public:
  FitRun(T& trainer, B& batches, FitOptions const& options, bool has_held_out,
         std::vector<std::string> metrics)
      : trainer_(trainer),
        batches_(batches),
        options_(options),
        metrics_(std::move(metrics)),
        label_(trainer.model().name() + "/fit"),
        sums_(allocate<Sums>(label_, Add::count, "", trainer.exec())),
        clock_(trainer, options.checkpoint.every.count(), options.stop_after.count(),
               options.stop_on_signal) {
    if (!has_held_out && (options.patience > 0 || !options.best.empty()))
      throw Error(
          "fit: expected held-out samples for patience and the best weights, got none. "
          "Pass them behind the batches.");
    if (options.checkpoint.folder.empty() &&
        (options.checkpoint.steps > 0 || options.checkpoint.every.count() > 0))
      throw Error(
          "fit: expected a folder for checkpoints, got none. Set "
          "FitOptions::checkpoint.folder.");
    // A rank whose step was refused has counted one more than others.
    double first[1] = {is_first() ? double(trainer.steps()) : 0};
    sum_over_ranks(trainer, first, 1);
    more_steps_ = trainer.steps() - long(first[0]);
    if (!options.checkpoint.folder.empty()) {
      if (!resumes)
        throw Error("fit: expected a communication policy whose state a file contains, got " +
                    std::string(T::communication_type::name) +
                    ". Leave FitOptions::checkpoint.folder empty.");
      checkpoints_ =
          std::make_unique<Checkpoints>(options.checkpoint.folder, options.checkpoint.keep);
      if (options.checkpoint.resume) resume();
    }
    agree_on_errors(trainer_, [&] {
      if (is_first()) log_ = std::make_unique<FitLog>(options_.log, metrics_, history_);
    });
    if (!options_.profile.empty())
      profile_ =
          std::make_unique<FitProfile<T>>(trainer_, options_.profile, !history_.epochs.empty());
  }

  bool is_finished() const {
    return has_ended_ || batches_.position().epoch >= options_.epochs || is_out_of_patience();
  }
  FitHistory const& history() const { return history_; }

  // After each step.
  void add_loss(long samples) {
    samples_ += double(samples);
    Add const add{trainer_.model().gradients().data() + M::nodes.arena_size,
                  trainer_.model().state().data(), sums_.data()};
    using Space = typename T::space;
    if constexpr (in_order<Space>)
      run_here(trainer_.exec(), label_, 1, add);
    else
      Kokkos::parallel_for(launch_label(label_), Kokkos::RangePolicy<Space>(trainer_.exec(), 0, 1),
                           add);
  }
  // After the last step of an epoch.
  template <class H, class... Metric, class Callback>
  void finish_epoch(std::uint64_t epoch, H& held_out, Metrics<Metric...> metrics,
                    Callback const& callback) {
    if (profile_) profile_->end_steps();
    EpochReport report = report_of(epoch);
    if constexpr (!std::is_same_v<H, NoHeldOut>) {
      report.held_out = evaluate(trainer_, held_out);
      if (!std::isfinite(report.held_out.loss)) refuse_loss(epoch, "on held-out samples");
      if constexpr (sizeof...(Metric) > 0)
        report.metrics = numbers_of(measure(trainer_, held_out, metrics));
      report.is_best = report.held_out.loss < history_.best_loss;
      if (report.is_best) history_.best_loss = report.held_out.loss;
      history_.epochs_without_progress = report.is_best ? 0 : history_.epochs_without_progress + 1;
    }
    history_.epochs.push_back(report);
    agree_on_errors(trainer_, [&] { write(report); });
    if (profile_) profile_->write(epoch, is_first() ? options_.progress : nullptr);
    if constexpr (!std::is_same_v<Callback, NoCallback>) {
      double stops[1] = {0};
      agree_on_exceptions(trainer_, [&] {
        if constexpr (std::is_void_v<decltype(callback(report))>)
          callback(report);
        else
          stops[0] = callback(report) ? 0 : 1;
      });
      sum_over_ranks(trainer_, stops, 1);
      if (stops[0] > 0) end(FitEnd::callback);
    }
    if (is_out_of_patience()) end(FitEnd::patience);
    if (profile_) profile_->begin_steps();
    started_ = Clock::now();
  }
  // Behind that; whether to leave the loop.
  bool after_step() {
    auto const due = clock_.after_step();
    if (due.signal && !is_finished()) end(FitEnd::signal);
    if (due.stop && !is_finished()) end(FitEnd::time);
    bool const by_steps = options_.checkpoint.steps > 0 && steps() % options_.checkpoint.steps == 0;
    if (checkpoints_ && (due.checkpoint || by_steps || is_finished())) save();
    return has_ended_;
  }

 private:
  using Sums = Kokkos::View<double*, typename M::memory_space>;

  bool is_first() const { return trainer_.sums().rank() == 0; }
  long steps() const { return trainer_.steps() - more_steps_; }  // the same on all ranks
  bool is_out_of_patience() const {
    return options_.patience > 0 && history_.epochs_without_progress >= options_.patience;
  }
  void end(FitEnd why) {
    if (!has_ended_) history_.end = why;
    has_ended_ = true;
  }
  [[noreturn]] void refuse_loss(std::uint64_t epoch, std::string const& where) const {
    throw Error("fit: " + trainer_.model().name() + ": expected a finite loss in epoch " +
                std::to_string(epoch) + ", got none " + where +
                ". Check the samples for NaN, and that the loss does not ignore all labels; lower "
                "the learning rate or clip the gradient.");
  }
  std::vector<double> sums() const {
    std::vector<double> numbers(Add::count);
    using Host = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(trainer_.exec(), Host(numbers.data(), numbers.size()), sums_);
    trainer_.exec().fence("phyllo: fit");
    return numbers;
  }
  void set_sums(std::vector<double> const& numbers) {
    using Host = Kokkos::View<double const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(trainer_.exec(), sums_, Host(numbers.data(), numbers.size()));
    trainer_.exec().fence("phyllo: fit");
  }
  static constexpr bool has_weights = ExchangesWeights<typename T::communication_type>;
  // In a checkpoint: those of one rank behind those of the other where they differ, zeros of a rank
  // whose numbers another one has. Collective.
  std::vector<double> sums_of_ranks() {
    auto const own = sums();
    if constexpr (!has_weights) return own;
    auto const ranks = std::size_t(trainer_.sums().size()),
               rank = std::size_t(trainer_.sums().rank());
    std::vector<double> all(ranks * own.size());
    if (has_own_sums(trainer_.communication()))
      std::copy(own.begin(), own.end(), all.begin() + std::ptrdiff_t(rank * own.size()));
    sum_over_ranks(trainer_, all.data(), long(all.size()));
    return all;
  }
  static std::vector<double> total_of(std::vector<double> const& of_ranks) {
    std::vector<double> total(Add::count, 0.0);
    for (std::size_t i = 0; i < of_ranks.size(); ++i) total[i % Add::count] += of_ranks[i];
    return total;
  }
  // On other ranks than those that wrote them, all are the first one's.
  void resume_sums(std::vector<double> const& all, std::string const& who) {
    if (all.empty() || all.size() % Add::count != 0)
      throw Error(who + ": expected \"fit.sums\" of " + std::to_string(Add::count) +
                  " numbers a rank, got " + std::to_string(all.size()) +
                  ". Resume from another checkpoint.");
    auto const ranks = std::size_t(trainer_.sums().size()),
               rank = std::size_t(trainer_.sums().rank());
    if (!has_weights) return set_sums(total_of(all));
    auto const own = all.begin() + std::ptrdiff_t(rank * Add::count);
    if (all.size() == ranks * Add::count) return set_sums({own, own + Add::count});
    set_sums(is_first() ? total_of(all) : std::vector<double>(Add::count, 0.0));
  }
  EpochReport report_of(std::uint64_t epoch) {
    // Throws where class indices were out of their range. Policies whose ranks have weights of
    // their own have losses of their own, and messages.
    if constexpr (has_weights)
      agree_on_errors(trainer_, [&] { trainer_.loss(); });
    else
      trainer_.loss();
    auto const numbers = total_of(sums_of_ranks());
    set_sums(std::vector<double>(Add::count, 0.0));
    EpochReport report;
    report.epoch = epoch;
    report.steps = long(numbers[3]);
    report.skipped = long(numbers[4]);
    report.loss = numbers[1] / numbers[0];
    report.accuracy = numbers[2] / numbers[0];
    report.learning_rate = trainer_.learning_rate();
    report.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    if (!std::isfinite(report.loss) && !(report.steps == 0 && may_go_on(report.skipped)))
      refuse_loss(epoch, report.steps == 0 ? "in any step: all were skipped" : "in training");
    return report;
  }
  // Of an epoch without a loss, which may be one step: whether it was the first step with late
  // gradients, or its steps may have been skipped by a loss scale that is too large.
  bool may_go_on(long skipped) const {
    if (gradients_are_late<typename T::communication_type> && skipped == 0) return true;
    if constexpr (!M::precision::scales_loss) return false;
    StepState state;
    using Host = Kokkos::View<StepState, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(trainer_.exec(), Host(&state), trainer_.model().state());
    trainer_.exec().fence("phyllo: fit");
    return state.loss_scale > 1;
  }
  void write(EpochReport const& report) {
    if (report.is_best && !options_.best.empty() && is_first())
      phyllo::save(trainer_.exec(), trainer_.model(), options_.best);
    if (!is_first()) return;
    log_->add(report);
    double const spent = std::chrono::duration<double>(Clock::now() - begun_).count();
    epochs_here_ += 1;
    if (options_.progress != nullptr) {
      double const left = spent / epochs_here_ *
                          double(options_.epochs - std::min(options_.epochs, report.epoch + 1));
      *options_.progress << FitLog::sentence(report, options_.epochs, samples_ / report.seconds,
                                             left)
                         << std::flush;
    }
    samples_ = 0;
  }

  void save() {
    if constexpr (resumes) {
      auto const numbers = sums_of_ranks();
      if (!std::isfinite(total_of(numbers)[1]))
        refuse_loss(batches_.position().epoch, "in training");
      TensorFile more;
      add_numbers(more, "fit.sums", numbers);
      add_numbers(more, "fit.history", numbers_of(history_));
      add_metrics(more, history_);
      checkpoints_->save(trainer_, batches_, more);
    }
  }
  void resume() {
    if constexpr (resumes) {
      // Steps that were made after the newest checkpoint are not undone.
      if (checkpoints_->newest(trainer_) < steps()) return;
      TensorFile file;
      if (!checkpoints_->resume_with(file, trainer_, batches_)) return;
      if (file.find("fit.history") == nullptr) return;  // of a loop by hand
      std::string const who = "fit: resuming from \"" + options_.checkpoint.folder + "\"";
      more_steps_ = 0;  // the checkpoint's count
      resume_sums(detail::numbers_of<double>(file, "fit.sums", -1, who), who);
      history_ = history_of(detail::numbers_of<double>(file, "fit.history", -1, who));
      take_metrics(history_, file, metrics_);
      if (is_out_of_patience()) end(FitEnd::patience);
    }
  }

  T& trainer_;
  B& batches_;
  FitOptions options_;
  std::vector<std::string> metrics_;  // names
  std::string label_;
  Sums sums_;
  AgreedClock<T> clock_;
  std::unique_ptr<Checkpoints> checkpoints_;
  std::unique_ptr<FitLog> log_;  // of rank 0
  std::unique_ptr<FitProfile<T>> profile_;
  FitHistory history_;
  long more_steps_ = 0;  // of this rank than of the first
  bool has_ended_ = false;
  Clock::time_point begun_ = Clock::now(), started_ = begun_;
  double samples_ = 0, epochs_here_ = 0;  // for the rate and the time that is left
};

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
