// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/train/training_parts.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// When `fit` writes checkpoints, and whether it goes on from one.
struct FitCheckpoints {
  std::string folder = {};                 // of Checkpoints; empty: none
  long steps = 0;                          // after so many steps each; 0: not by steps
  std::chrono::duration<double> every{0};  // after this time each; 0: not by time
  int keep = 2;
  bool resume = true;  // goes on from the newest checkpoint, if the trainer has not more steps
};

/// What `fit` does besides the loop by hand. By default nothing.
struct FitOptions {
  std::uint64_t epochs = 1;          // until so many epochs are complete, those before a resume too
  std::ostream* progress = nullptr;  // one line for each epoch, written by rank 0
  std::string log = {};              // CSV file, one line for each epoch, written by rank 0
  // JSON lines, one for each epoch and rank: how long each part of the steps took; and lines of
  // progress. The host then waits for the device at each part; see StepProfile.
  std::string profile = {};
  std::string best = {};  // weights after the epoch with the lowest held-out loss
  long patience = 0;      // epochs without a lower held-out loss before training ends; 0: no bound
  FitCheckpoints checkpoint = {};
  std::chrono::duration<double> stop_after{0};  // time of this call; 0: no bound
  // Such as SIGTERM: ends the call, with a checkpoint, once it has come to any rank; 0: none.
  int stop_on_signal = 0;
};

/// A metric of held-out samples.
struct MetricValue {
  std::string name;
  double value = 0;
};

/// One epoch of a training.
struct EpochReport {
  std::uint64_t epoch = 0;
  // That counted, and whose gradient was not finite; of all ranks together where each has weights
  // of its own.
  long steps = 0;
  long skipped = 0;
  double loss = 0;           // mean over the samples of steps that counted, of all ranks, or NaN
  double accuracy = 0;       // likewise, in training mode; 0 without class indices
  Evaluation held_out = {};  // samples = 0 without held-out samples
  double learning_rate = 0;  // of the last step
  double seconds = 0;        // of the steps, without the evaluation
  bool is_best = false;      // the lowest held-out loss so far
  std::vector<MetricValue> metrics = {};  // of held-out samples; those that are one number
};

/// Why training has ended.
enum class FitEnd { epochs, patience, callback, time, signal };

/// What `fit` returns: all epochs, those before a resume too.
struct FitHistory {
  std::vector<EpochReport> epochs = {};
  FitEnd end = FitEnd::epochs;
  double best_loss = std::numeric_limits<double>::infinity();  // held-out
  long epochs_without_progress = 0;                            // since the best one
};

/// Held-out samples as Views: HeldOut{x, t}. Every rank passes its share of them.
template <class Inputs, class Targets> struct HeldOut {
  Inputs inputs;
  Targets targets;
};
template <class Inputs, class Targets> HeldOut(Inputs, Targets) -> HeldOut<Inputs, Targets>;

}  // namespace phyllo::inline PHYLLO_ISA
