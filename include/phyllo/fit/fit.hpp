// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/agreed_batches.hpp>
#include <phyllo/fit/fit_options.hpp>
#include <phyllo/fit/fit_run.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// Trains until so many epochs are complete:
/// auto const history = fit(trainer, batches, HeldOut{x, t}, {.epochs = 20, .log = "run.csv"});
///
/// options  batches: made with the trainer's instance · held_out: HeldOut{inputs, targets} or
///          Batches, evaluated after each epoch · Metrics<R2, ...>{}, see `measure`: those that are
///          one number are in the report, the log and the line of progress · FitOptions · callback:
///          called on every rank after each epoch with an EpochReport; where it returns bool, false
///          on any rank ends the training
/// state    that of trainer and batches; with FitOptions::checkpoint also a folder, from which the
///          same call goes on after a process has ended: mid-epoch, with the same bits, history and
///          patience
/// threads  as Trainer and Batches; every rank calls it. With FitOptions::stop_on_signal the
///          handler of that signal is replaced until the call returns
/// errors   run: a loss that is not finite, a file that cannot be written, ranks whose Batches have
///          other options, sources or positions -> the same Error on all ranks; those of Trainer,
///          Batches and Checkpoints
/// numerics the bits of the loop by hand: trainer.step on each batch, and after each epoch
///          trainer.evaluate
/// cost     one addition on the device for each step; once an epoch the host waits for the sums.
///          With time limits or a signal, ranks exchange four numbers about once a second
template <class T, class B, class H, class... M, class Callback = detail::NoCallback>
FitHistory fit(T& trainer, B& batches, H&& held_out, Metrics<M...> metrics,
               FitOptions const& options, Callback const& callback = {}) {
  using Held = std::remove_cvref_t<H>;
  detail::FitRun<T, B> run(trainer, batches, options, !std::is_same_v<Held, detail::NoHeldOut>,
                           detail::names_of(metrics));
  detail::agree_on_batches(trainer, batches, "fit: batches");
  detail::agree_on_batches(trainer, held_out, "fit: held-out batches");
  while (!run.is_finished()) {
    std::uint64_t const epoch = batches.position().epoch;
    for (auto const& batch : batches.epoch(epoch)) {
      trainer.step(batch.inputs, batch.targets);
      run.add_loss(batches.order().batch(batch.position.step));
      if (batches.position().epoch != epoch) run.finish_epoch(epoch, held_out, metrics, callback);
      if (run.after_step()) break;
    }
  }
  return run.history();
}

/// As above, without metrics.
template <class T, class B, class H, class Callback = detail::NoCallback>
FitHistory fit(T& trainer, B& batches, H&& held_out, FitOptions const& options,
               Callback const& callback = {}) {
  return fit(trainer, batches, held_out, Metrics<>{}, options, callback);
}

/// As above, without held-out samples.
template <class T, class B, class Callback = detail::NoCallback>
FitHistory fit(T& trainer, B& batches, FitOptions const& options, Callback const& callback = {}) {
  detail::NoHeldOut none;
  return fit(trainer, batches, none, options, callback);
}

}  // namespace phyllo::inline PHYLLO_ISA
