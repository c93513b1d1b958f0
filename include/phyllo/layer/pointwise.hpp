// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Base of the layers that compute y = f(x) element by element.
///
/// A layer derives from it and adds a `name` and two function templates over T = float or double:
/// `value(x)` and `derivative(saved)`, where saved is the layer's input x. If the derivative is
/// cheaper from the output y, declare `derivative_of = Derivative::output`: saved is then y. If the
/// value needs no constant but zero, declare `needs_constants = false`: kernels then evaluate it
/// between sums that fill the registers. If the value is one of `Activation`, declare it: backends
/// then use instructions and libraries that have the function.
///
/// shape    any -> the same
/// errors   compile: a layer without name, value or derivative, at its use
struct Pointwise {
  static constexpr Role role = Role::pointwise;
  static constexpr Derivative derivative_of = Derivative::input;
  static constexpr Activation activation = Activation::other;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }
};

}  // namespace phyllo::inline PHYLLO_ISA
