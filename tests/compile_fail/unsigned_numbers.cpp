// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: View: numbers of an input are no unsigned integers of 32 or 64 bits, which would be read
// as signed ones. Use a View of float, double or int

#include <phyllo/layer/linear.hpp>
#include <phyllo/model/model.hpp>

using namespace phyllo;
struct Net : Network<Input<3>, Linear<2>> {};

void infer(Model<Net> const& model, Kokkos::View<unsigned**> x, Kokkos::View<float**> y) {
  model.infer(Kokkos::DefaultExecutionSpace{}, x, y);
}
