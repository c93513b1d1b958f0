// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: gather: expected Views of one type

#include <phyllo/model/bind.hpp>

using namespace phyllo;

int main() {
  Kokkos::View<float*, Kokkos::HostSpace> const x;
  Kokkos::View<double*, Kokkos::HostSpace> const y;
  return gather(x, y).variables;
}
