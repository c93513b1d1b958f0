// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tensors: one name is given twice

#include <phyllo/model/tensors.hpp>

using namespace phyllo;
struct a;
struct b;

int main() { return tensors(named<a>(1), named<b>(2), named<a>(3)).size; }
