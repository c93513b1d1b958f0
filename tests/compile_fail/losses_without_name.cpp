// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Losses: expected On<tag, Loss, Weight> for each output

#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/losses.hpp>

using namespace phyllo;

int main() { return detail::LossTerms<Losses<CrossEntropy>>::type::size; }
