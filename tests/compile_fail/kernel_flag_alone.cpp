// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Kernels: takes_views, takes_pieces, thread_bytes, sample_bytes and partial_count are
// members of KernelTraits

#include <phyllo/op/kernel_traits.hpp>

using namespace phyllo;

struct Kernels {
  static constexpr bool takes_views = true;
};

int main() { return kernel_traits<Kernels>.takes_views; }
