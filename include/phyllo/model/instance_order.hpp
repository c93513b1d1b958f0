// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/core/launch_label.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Orders the use of one memory by several execution-space instances: work on another instance than
/// the last one starts when the last one's work is done. Nothing to do where a launch has run when
/// it returns.
///
/// cost     a comparison; a fence of the earlier instance where instances alternate
template <class Space> class InstanceOrder {
 public:
  explicit InstanceOrder(Space const& exec) : last_(exec) {}
  void follow(Space const& exec) {
    if (exec == last_) return;
    last_.fence(launch_label("phyllo: work of another instance"));
    last_ = exec;
  }

 private:
  Space last_;
};

template <class Space>
  requires in_order<Space>
class InstanceOrder<Space> {
 public:
  explicit InstanceOrder(Space const&) {}
  void follow(Space const&) {}
};

}  // namespace phyllo::inline PHYLLO_ISA
