// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: (no non-static data member named|field designator) .*takes_view
// position: KernelTraits

#include <phyllo/op/kernel_traits.hpp>

using namespace phyllo;

struct Kernels {
  static constexpr KernelTraits traits = {.takes_view = true};
};

int main() {}
