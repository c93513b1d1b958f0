// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/add.hpp>
#include <phyllo/kind/concatenation.hpp>
#include <phyllo/kind/contraction.hpp>
#include <phyllo/kind/convolution.hpp>
#include <phyllo/kind/fourier.hpp>
#include <phyllo/kind/input.hpp>
#include <phyllo/kind/local_response.hpp>
#include <phyllo/kind/lookup.hpp>
#include <phyllo/kind/map.hpp>
#include <phyllo/kind/move.hpp>
#include <phyllo/kind/normalization.hpp>
#include <phyllo/kind/pointwise.hpp>
#include <phyllo/kind/pooling.hpp>
#include <phyllo/kind/position.hpp>
#include <phyllo/kind/product.hpp>
#include <phyllo/kind/reduce.hpp>
#include <phyllo/kind/resample.hpp>
#include <phyllo/kind/row.hpp>
#include <phyllo/kind/scan.hpp>
#include <phyllo/kind/sparse_product.hpp>
#include <phyllo/kind/spectral_product.hpp>
#include <phyllo/kind/unpooling.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <Role R> constexpr void read_unflattened_as(Node& n, Shape const& s) {
  if constexpr (Kind<R>::facts.reads_unflattened)
    if (n.role == R) Kind<R>::read_unflattened(n, s);
}

template <Role... R> struct KindList {
  static constexpr int size = sizeof...(R);
  static constexpr KindFacts facts[] = {Kind<R>::facts...};
  static constexpr void read_unflattened(Node& n, Shape const& s) {
    (read_unflattened_as<R>(n, s), ...);
  }
  // The table is indexed by the role.
  static_assert([] {
    int i = 0;
    return ((int(R) == i++) && ...);
  }());
};

/// All kinds, in the order of Role.
using Kinds =
    KindList<Role::input, Role::contraction, Role::normalization, Role::pointwise, Role::pooling,
             Role::add, Role::concatenation, Role::row, Role::lookup, Role::convolution, Role::move,
             Role::reduce, Role::map, Role::product, Role::position, Role::scan, Role::resample,
             Role::local_response, Role::fourier, Role::spectral_product, Role::unpooling,
             Role::sparse_product>;

}  // namespace detail

constexpr KindFacts const& facts_of(Role role) { return detail::Kinds::facts[int(role)]; }
constexpr KindFacts const& facts_of(Node const& n) { return facts_of(n.role); }
constexpr bool is_given(Node const& n) { return facts_of(n).is_given; }
/// A node behind a Flatten reads what is in front of it, of shape s.
constexpr void read_unflattened(Node& n, Shape const& s) { detail::Kinds::read_unflattened(n, s); }

}  // namespace phyllo::inline PHYLLO_ISA
