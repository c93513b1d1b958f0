// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/step_part.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <optional>

namespace phyllo::inline PHYLLO_ISA {

/// The part of a step that runs: a region for Kokkos Tools, and the name that errors have for it.
class RunningPart {
 public:
  /// Ends the part before.
  void begin(StepPart part) {
    region_.reset();
    part_ = part;
    region_.emplace(name_of(part));
  }
  void end() { region_.reset(); }
  /// Of the last one that began.
  std::string const& name() const { return name_of(part_); }

 private:
  StepPart part_ = StepPart::forward;
  std::optional<Kokkos::Profiling::ScopedRegion> region_;
};

}  // namespace phyllo::inline PHYLLO_ISA
