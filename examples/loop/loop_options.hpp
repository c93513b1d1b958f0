// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/fit_options.hpp>

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

/// What the examples that train for minutes are told about their training loop.
struct LoopOptions {
  std::uint64_t epochs = 8, seed = 1;
  long batch = 32;            // samples of all ranks in one step
  double rate = 1e-3;         // of learning, the largest
  double stop_after = 0;      // seconds; 0: no limit
  long checkpoint_steps = 0;  // 0: every two minutes
  bool resume = true, profile = false;
  std::string policy = "all-reduce";

  static std::vector<std::string> policies() {
    return {"all-reduce", "all-reduce-bf16", "hierarchical", "sharded",    "lag",
            "local-sgd",  "asynchronous",    "groups",       "tree-reduce"};
  }

  void add_to(CLI::App& app) {
    app.add_option("--epochs", epochs)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--batch", batch, "samples of all ranks in one step")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--rate", rate, "of learning, the largest")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seed", seed)->capture_default_str();
    app.add_option("--policy", policy,
                   "of communication; others than all-reduce in a build with "
                   "-DPHYLLO_EXAMPLE_POLICIES=ON")
        ->check(CLI::IsMember(policies()))
        ->capture_default_str();
    app.add_flag("--resume,!--no-resume", resume, "go on from the newest checkpoint [default]");
    app.add_flag("--profile", profile, "write how long each part of the steps takes on each rank");
    app.add_option("--stop-after", stop_after, "seconds of training; 0: no limit");
    app.add_option("--checkpoint-steps", checkpoint_steps, "0: a checkpoint every two minutes");
  }

  /// The loop with its files in the folder `results`, which exists.
  phyllo::FitOptions fit(std::string const& results) const {
    phyllo::FitOptions options{.epochs = epochs,
                               .progress = &std::cout,
                               .log = results + "/log.csv",
                               .best = results + "/best.safetensors",
                               .checkpoint = {.folder = results + "/checkpoints", .resume = resume},
                               .stop_after = std::chrono::duration<double>(stop_after),
                               .stop_on_signal = SIGTERM};
    if (profile) options.profile = results + "/profile.jsonl";
    if (checkpoint_steps > 0)
      options.checkpoint.steps = checkpoint_steps;
    else
      options.checkpoint.every = std::chrono::minutes(2);
    return options;
  }
};
