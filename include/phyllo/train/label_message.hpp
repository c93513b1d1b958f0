// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/op/loss.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Sets the count of class indices outside of their range to zero, once a message has named them.
template <class A> struct ForgetLabels {
  StepState* state = nullptr;
  A* tail = nullptr;  // op::Tail
  op::WrongLabel* wrong = nullptr;
  KOKKOS_FUNCTION void operator()(int) const {
    state->untold_labels = 0;
    tail[op::Tail::untold_labels] = 0;
    *wrong = {};
  }
};

/// Adds those of one more loss to the sums of a batch.
template <class A> struct CountLabels {
  op::LabelSearch<A> search;
  A* sums = nullptr;  // (4)
  KOKKOS_FUNCTION void operator()(int) const {
    sums[op::Tail::wrong_labels] += search.count(sums[op::Tail::loss]);
  }
};

/// The class index that a message names; sets the count of all to zero.
template <class Space, class A, class View>
op::WrongLabel take_wrong_label(Space const& exec, std::string const& label, StepState* state,
                                A* tail, View const& on_device) {
  op::WrongLabel wrong;
  using Host = Kokkos::View<op::WrongLabel*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(exec, Host(&wrong, 1), on_device);
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space>(exec, 0, 1),
                       ForgetLabels<A>{state, tail, on_device.data()});
  exec.fence("phyllo: labels out of range");
  return wrong;
}

/// The sentence about class indices outside of 0..classes-1, of which this rank knows at most one.
inline std::string label_message(std::string const& network, char const* loss, Shape const& outputs,
                                 double count, op::WrongLabel const& wrong) {
  std::string text = network + ", loss " + loss + ": expected class indices from 0 to " +
                     std::to_string(outputs.channels - 1) + ", got " +
                     std::to_string((long long)count) + " outside of them";
  if (wrong.noted != 0) {
    text +=
        ", such as " + std::to_string(wrong.label) + " for sample " + std::to_string(wrong.sample);
    if (outputs.positions() > 1) text += ", position " + std::to_string(wrong.position);
  } else {
    text += ", on other ranks";
  }
  return text +
         ". Steps with them were skipped; values of the loss with them are not defined. Number "
         "classes from 0, and leave out samples without a class.";
}

}  // namespace phyllo::inline PHYLLO_ISA
