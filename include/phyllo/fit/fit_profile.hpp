// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/fit/agreed_clock.hpp>
#include <phyllo/fit/agreed_error.hpp>
#include <phyllo/fit/step_profile.hpp>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::detail {

// The profile of a training: after each epoch one JSON object for each rank in a file, and one line
// for each of the first ranks for people. Written by rank 0; every rank calls it.
template <class T> class FitProfile {
 public:
  // continues: whether the file may have epochs from before a resume, which stay.
  FitProfile(T& trainer, std::string const& path, bool continues)
      : trainer_(trainer), path_(path), profile_(trainer.exec()) {
    agree_on_errors(trainer_, [&] {
      if (!is_first()) return;
      file_.open(path, continues ? std::ios::app : std::ios::trunc);
      flush();
    });
  }

  // Evaluations between epochs read batches too, which do not count.
  void begin_steps() { profile_.take(); }
  void end_steps() { own_ = profile_.take(); }
  void write(std::uint64_t epoch, std::ostream* progress) {
    auto const& ranks = trainer_.sums();
    constexpr std::size_t numbers = 5, of_rank = numbers * step_part_count;
    std::vector<double> all(of_rank * std::size_t(ranks.size()), 0.0);
    for (std::size_t p = 0; p < own_.size(); ++p) {
      double* const at = all.data() + std::size_t(ranks.rank()) * of_rank + p * numbers;
      PartTimes const& t = own_[p];
      at[0] = double(t.count), at[1] = t.minimum, at[2] = t.median, at[3] = t.maximum;
      at[4] = t.sum;
    }
    if (ranks.size() > 1) sum_over_ranks(trainer_, all.data(), long(all.size()));
    agree_on_errors(trainer_, [&] {
      if (!is_first()) return;
      for (int rank = 0; rank < ranks.size(); ++rank)
        add(epoch, rank, all.data() + std::size_t(rank) * of_rank, progress);
      flush();
    });
  }

 private:
  static constexpr int printed_ranks = 4;

  bool is_first() const { return trainer_.sums().rank() == 0; }
  static std::string printed(char const* format, double a, double b = 0, double c = 0) {
    char text[96];
    std::snprintf(text, sizeof text, format, a, b, c);
    return text;
  }
  // numbers: count, minimum, median, maximum and sum of each part
  void add(std::uint64_t epoch, int rank, double const* numbers, std::ostream* progress) {
    std::string json = "{\"epoch\": " + std::to_string(epoch) +
                       ", \"rank\": " + std::to_string(rank) + ", \"parts\": {";
    std::string line = "  rank " + std::to_string(rank) + ":";
    char const* between = "";
    for (int p = 0; p < step_part_count; ++p, numbers += 5) {
      if (numbers[0] == 0) continue;
      std::string const& name = name_of(StepPart(p));
      json += between + ("\"" + name) + printed("\": {\"count\": %.0f", numbers[0]) +
              printed(", \"minimum\": %.9g, \"median\": %.9g, \"maximum\": %.9g", numbers[1],
                      numbers[2], numbers[3]) +
              printed(", \"sum\": %.9g}", numbers[4]);
      line +=
          (*between == 0 ? " " : "; ") + name +
          printed(" %.3g ms (%.3g to %.3g)", 1e3 * numbers[2], 1e3 * numbers[1], 1e3 * numbers[3]);
      between = ", ";
    }
    file_ << json << "}}\n";
    if (progress != nullptr && rank < printed_ranks) *progress << line << "\n" << std::flush;
  }
  void flush() {
    if (!file_.flush())
      throw Error("fit: expected the profile \"" + path_ +
                  "\" to be written, got an error. Check the folder and the disk, or leave "
                  "FitOptions::profile empty.");
  }

  T& trainer_;
  std::string path_;
  StepProfile profile_;
  std::vector<PartTimes> own_;
  std::ofstream file_;  // of rank 0
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
