// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "digits_options.hpp"

#include <CLI/CLI.hpp>

bool DigitsOptions::parse(int argc, char** argv, int& status) {
  CLI::App app{"Trains a convolutional network on handwritten digits."};
  app.add_option("--data", data, "gzipped CSV file of digits")->capture_default_str();
  app.add_option("--weights", weights, "safetensors file to write")->capture_default_str();
  app.add_option("--log", log, "CSV file to write")->capture_default_str();
  app.add_option("--epochs", epochs)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--batch", batch, "samples of all ranks in one step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rate", rate, "learning rate at the start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", seed)->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& error) {
    status = app.exit(error);
    return false;
  }
  return true;
}
