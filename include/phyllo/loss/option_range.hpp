// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/shape.hpp>

#include <limits>
#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

/// The numbers that an option of a loss may be, for its `check`.
struct OptionRange {
  char const* option = "";
  double above = -std::numeric_limits<double>::infinity();  // and not equal to it
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::max();

  /// errors   run: another number -> Error
  void check(std::string const& who, double value) const {
    if (value > above && value >= least && value <= most) return;
    std::string range = "a finite number";
    if (above > -std::numeric_limits<double>::infinity()) range += " above " + text(above);
    if (least > -std::numeric_limits<double>::infinity()) range += " of at least " + text(least);
    if (most < std::numeric_limits<double>::max()) range += " and at most " + text(most);
    throw Error(who + ": expected a loss whose " + option + " is " + range + ", got " +
                std::to_string(value) + ".");
  }

 private:
  static std::string text(double x) {
    return x == double(long(x)) ? std::to_string(long(x)) : std::to_string(x);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
