// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/execution.hpp>
#include <phyllo/model/model_options.hpp>
#include <phyllo/policy/precision.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The members of a network that a model reads: a struct that derives from Network<...> has them.
template <class Net>
concept ComposedNetwork = requires { typename Net::program; };

// A Model whose arguments are of the wrong kinds or in the wrong order: says which, and has a
// model's members, so that the compiler reports nothing else. The Model itself is the
// specialisation in model.hpp.
template <class Net, class P = Full<float>, class Exec = Execution<>> class Model {
  // Not in the assertions: GCC would explain each concept in some 30 lines.
  static constexpr bool is_composed = ComposedNetwork<Net>, is_precise = Precision<P>,
                        executes = ExecutionChoice<Exec> || !is_precise;
  static_assert(is_composed,
                "Model: the first argument is no network. Derive one: struct Net : "
                "Network<Input<4>, Linear<3>> {};");
  static_assert(is_precise,
                "Model: the second argument is no precision policy, such as Full<float> or "
                "Mixed<bf16, float>. The order is Model<Net, Precision, Execution>.");
  static_assert(executes,
                "Model: the third argument is no Execution. Write Execution<Space> for a Kokkos "
                "execution space; Reproducible<N> is the fourth argument of Execution.");

 public:
  template <class Space> explicit Model(Space const&, ModelOptions const& = {}) {}
  template <class... A> void forward(A const&...) {}
  template <class... A> void backward(A const&...) {}
  template <class... A> void infer(A const&...) const {}
  template <class... A> void initialize(A const&...) {}
};

}  // namespace phyllo::inline PHYLLO_ISA
