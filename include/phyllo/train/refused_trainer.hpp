// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/refused_model.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/train/optimizer_options.hpp>
#include <phyllo/train/update_rule.hpp>

namespace phyllo::inline PHYLLO_ISA {

// A Trainer whose arguments are of the wrong kinds or in the wrong order: says which, and has a
// trainer's members, so that the compiler reports nothing else. The Trainer itself is the
// specialisation in trainer.hpp.
template <class Net, class L, class Rule, class P = Full<float>, class C = Local,
          class Exec = Execution<>>
class Trainer {
  // Not in the assertions: GCC would explain each concept in some 30 lines.
  static constexpr bool is_composed = ComposedNetwork<Net>, updates = UpdateRule<Rule>,
                        is_precise = Precision<P>, communicates = Communication<C> || !is_precise,
                        executes = ExecutionChoice<Exec> || !is_precise || !communicates;
  static_assert(is_composed,
                "Trainer: the first argument is no network. Derive one: struct Net : "
                "Network<Input<4>, Linear<3>> {};");
  static_assert(updates,
                "Trainer: the third argument is no update rule, such as Sgd or Adam. One of your "
                "own has name, states, rate, schedule, prepare and update; see "
                "phyllo/train/update_rule.hpp. The order is Trainer<Net, Loss, Rule>.");
  static_assert(is_precise,
                "Trainer: the fourth argument is no precision policy, such as Full<float> or "
                "Mixed<bf16, float>. The order is Trainer<Net, Loss, Rule, Precision, "
                "Communication, Execution>.");
  static_assert(communicates,
                "Trainer: the fifth argument is no communication policy, such as Local or "
                "AllReduce<Mpi>. The order is Trainer<Net, Loss, Rule, Precision, Communication, "
                "Execution>.");
  static_assert(executes,
                "Trainer: the sixth argument is no Execution. Write Execution<Space> for a Kokkos "
                "execution space; Reproducible<N> is the fourth argument of Execution.");

 public:
  template <class Space, class R = Rule>
  Trainer(Space const&, R const&, ModelOptions const& = {}, OptimizerOptions const& = {}) {}
  template <class Space, class Communicator, class R = Rule>
  Trainer(Space const&, Communicator&&, R const&, ModelOptions const& = {},
          OptimizerOptions const& = {}) {}
  template <class... A> void step(A const&...) {}
  template <class... A> void accumulate_gradients(A const&...) {}
  double loss() const { return 0; }
  Model<Net>& model();
};

}  // namespace phyllo::inline PHYLLO_ISA
