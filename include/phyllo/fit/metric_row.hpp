// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/shape.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// One position of an output and its target, as a metric reads it.
class MetricRow {
 public:
  PHYLLO_FUNCTION MetricRow(ExternalTensor const& outputs, ExternalTensor const& targets,
                            Shape const& shape, long sample, int position)
      : outputs_(outputs),
        targets_(targets),
        channels_(shape.channels),
        sample_(sample),
        at_{position / (shape.spatial[1] * shape.spatial[2]),
            position / shape.spatial[2] % shape.spatial[1], position % shape.spatial[2]} {}

  PHYLLO_FUNCTION int channels() const { return channels_; }
  /// Channel c of the output, and of the target.
  PHYLLO_FUNCTION double operator()(int c) const { return read(outputs_, c); }
  PHYLLO_FUNCTION double target(int c) const { return read(targets_, c); }
  /// The class, 0 to channels() - 1, of a metric of classes.
  PHYLLO_FUNCTION long label() const {
    return long(targets_.read<std::int64_t>(sample_, 0, at_[0], at_[1], at_[2]));
  }

 private:
  PHYLLO_FUNCTION double read(ExternalTensor const& t, int c) const {
    return t.read<double>(sample_, c, at_[0], at_[1], at_[2]);
  }

  ExternalTensor const& outputs_;
  ExternalTensor const& targets_;
  int channels_;
  long sample_;
  int at_[3];
};

}  // namespace phyllo::inline PHYLLO_ISA
