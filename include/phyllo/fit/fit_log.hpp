// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/fit/fit_options.hpp>
#include <phyllo/fit/stored_numbers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::detail {

// Epochs as text: lines of a CSV file, and lines that people read. Used on rank 0.
class FitLog {
 public:
  // path may be empty. Writes the epochs that are there anew, so that a resumed training has each
  // of them once.
  FitLog(std::string const& path, std::vector<std::string> metrics, FitHistory const& history)
      : path_(path), metrics_(std::move(metrics)) {
    if (path.empty()) return;
    file_.open(path, std::ios::trunc);
    file_ << "epoch,steps,skipped,loss,accuracy,held_out_loss,held_out_accuracy,";
    for (std::string const& name : metrics_) file_ << name << ',';
    file_ << "learning_rate,seconds\n";
    for (EpochReport const& report : history.epochs) line(report);
    flush();
  }
  void add(EpochReport const& report) {
    if (path_.empty()) return;
    line(report);
    flush();
  }

  // The line of an epoch, with a newline. left: seconds until the last one ends.
  static std::string sentence(EpochReport const& r, std::uint64_t epochs, double rate,
                              double left) {
    std::string text = printed("epoch %4.0f", double(r.epoch) + 1) + "/" + std::to_string(epochs) +
                       printed("  loss %.6g", r.loss);
    if (r.held_out.weight > 0) text += printed("  held-out loss %.6g", r.held_out.loss);
    if (r.held_out.weight > 0 && r.held_out.accuracy > 0)
      text += printed("  accuracy %.2f %%", 100 * r.held_out.accuracy);
    for (MetricValue const& metric : r.metrics)
      text += "  " + metric.name + printed(" %.6g", metric.value);
    text += printed("  %.0f samples/s", rate);
    text += left < 120 ? printed("  %.0f s left", left) : printed("  %.0f min left", left / 60);
    if (r.skipped > 0) text += "  " + std::to_string(r.skipped) + " steps skipped";
    return text + "\n";
  }

 private:
  static std::string printed(char const* format, double number) {
    char text[64];
    std::snprintf(text, sizeof text, format, number);
    return text;
  }
  void line(EpochReport const& r) {
    file_ << r.epoch << ',' << r.steps << ',' << r.skipped;
    for (double const number : {r.loss, r.accuracy}) file_ << printed(",%.9g", number);
    bool const held_out = r.held_out.weight > 0;  // an empty column where there are none
    file_ << (held_out ? printed(",%.9g", r.held_out.loss) : ",")
          << (held_out ? printed(",%.9g", r.held_out.accuracy) : ",");
    for (std::string const& name : metrics_) {
      double const* const value = find(r, name);
      file_ << (value != nullptr ? printed(",%.9g", *value) : ",");
    }
    file_ << printed(",%.9g", r.learning_rate) << printed(",%.6g", r.seconds) << '\n';
  }
  // nullptr: an epoch from before a resume with another metric.
  static double const* find(EpochReport const& r, std::string const& name) {
    for (MetricValue const& metric : r.metrics)
      if (metric.name == name) return &metric.value;
    return nullptr;
  }
  void flush() {
    if (!file_.flush())
      throw Error("fit: expected the log \"" + path_ +
                  "\" to be written, got an error. Check the folder and the disk, or leave "
                  "FitOptions::log empty.");
  }

  std::string path_;
  std::vector<std::string> metrics_;  // names of columns
  std::ofstream file_;
};

// A history as numbers of a checkpoint, and back.
inline std::vector<double> numbers_of(FitHistory const& history) {
  std::vector<double> numbers = {history.best_loss, double(history.epochs_without_progress)};
  for (EpochReport const& r : history.epochs)
    for (double const number : {double(r.epoch), double(r.steps), double(r.skipped), r.loss,
                                r.accuracy, r.held_out.loss, r.held_out.accuracy, r.held_out.weight,
                                r.learning_rate, r.seconds, r.is_best ? 1.0 : 0.0})
      numbers.push_back(number);
  return numbers;
}
inline FitHistory history_of(std::vector<double> const& numbers) {
  constexpr std::size_t columns = 11;
  FitHistory history;
  if (numbers.size() < 2) return history;
  history.best_loss = numbers[0];
  history.epochs_without_progress = long(numbers[1]);
  for (std::size_t i = 2; i + columns <= numbers.size(); i += columns) {
    double const* const n = &numbers[i];
    history.epochs.push_back({std::uint64_t(n[0]),
                              long(n[1]),
                              long(n[2]),
                              n[3],
                              n[4],
                              {n[5], n[6], long(n[7]), n[7]},
                              n[8],
                              n[9],
                              n[10] > 0,
                              {}});
  }
  return history;
}
// Metrics by their names, since a resumed program may measure others: fit.metric.<name> (epochs),
// not a number where an epoch lacks it.
inline constexpr char const* metric_prefix = "fit.metric.";
inline void add_metrics(TensorFile& file, FitHistory const& history) {
  std::vector<std::string> names;
  for (EpochReport const& r : history.epochs)
    for (MetricValue const& metric : r.metrics)
      if (std::find(names.begin(), names.end(), metric.name) == names.end())
        names.push_back(metric.name);
  for (std::string const& name : names) {
    std::vector<double> values;
    for (EpochReport const& r : history.epochs) {
      values.push_back(std::numeric_limits<double>::quiet_NaN());
      for (MetricValue const& metric : r.metrics)
        if (metric.name == name) values.back() = metric.value;
    }
    add_numbers(file, metric_prefix + name, values);
  }
}
// Those of `names` first, in their order: a file has its tensors in another one.
inline void take_metrics(FitHistory& history, TensorFile const& file,
                         std::vector<std::string> names) {
  std::string const prefix = metric_prefix;
  for (StoredTensor const& tensor : file.tensors)
    if (tensor.name.starts_with(prefix))
      if (std::string const name = tensor.name.substr(prefix.size());
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  for (std::string const& name : names) {
    if (file.find(prefix + name) == nullptr) continue;
    auto const values = numbers_of<double>(file, prefix + name, -1, "fit");
    for (std::size_t e = 0; e < history.epochs.size() && e < values.size(); ++e)
      if (!std::isnan(values[e])) history.epochs[e].metrics.push_back({name, values[e]});
  }
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
