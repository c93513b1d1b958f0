// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: A loss has at most 16 bytes of trivially copyable members

#include <phyllo/loss/losses.hpp>

using namespace phyllo;
struct Weighted {
  static constexpr char const* name = "weighted";
  static constexpr bool classes = false;
  float weights[5] = {};
  template <class Row> KOKKOS_FUNCTION auto operator()(Row const& y) const {
    auto const weighted = [&](int c) { return weights[c] * (y(c) - y.target(c)); };
    y.gradient(weighted);
    return y.sum(weighted);
  }
};

using Terms = Losses<On<struct velocity, Weighted, 0.5>>;
template <class... Term> constexpr double weights(Losses<Term...>) { return (Term::weight + ...); }

int main() { return weights(Terms{}) > 0; }
