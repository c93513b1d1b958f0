// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: A loss states its `name`, and in `static constexpr bool classes`
// position: Square

#include <phyllo/loss/losses.hpp>

using namespace phyllo;
struct Square {
  static constexpr char const* name = "square";
  template <class Row> KOKKOS_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    y.gradient([&](int c) { return T(2) * (y(c) - y.target(c)); });
    return y.sum([&](int c) { return (y(c) - y.target(c)) * (y(c) - y.target(c)); });
  }
};

using Terms = Losses<On<struct velocity, Square, 0.5>>;
template <class... Term> constexpr double weights(Losses<Term...>) { return (Term::weight + ...); }

int main() { return weights(Terms{}) > 0; }
