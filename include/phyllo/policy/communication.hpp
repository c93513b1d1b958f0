// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <concepts>

namespace phyllo {

/// What a model and a trainer ask of the ranks that train together.
///
/// state    name · bucket_bytes (0: all gradients in one transfer) · rank() · size()
/// numerics sum: blocking, in place, of device data; begin .. finish: the same without waiting in
///          between, one call for each bucket; exclusive_sum: over the lower ranks
template <class C>
concept Communication = requires(C& c, Kokkos::DefaultExecutionSpace const& exec, float* data) {
  { C::name } -> std::convertible_to<char const*>;
  { C::bucket_bytes } -> std::convertible_to<long>;
  { c.rank() } -> std::convertible_to<int>;
  { c.size() } -> std::convertible_to<int>;
  c.reserve(exec, 1L);
  c.sum(exec, data, 1L);
  c.begin(exec, data, 1L);
  c.finish(exec);
  c.progress();
  { c.exclusive_sum(1L) } -> std::convertible_to<long>;
};

/// One rank alone.
///
/// cost     none
struct Local {
  static constexpr char const* name = "local";
  static constexpr long bucket_bytes = 0;

  int rank() const { return 0; }
  int size() const { return 1; }
  template <class Space> void reserve(Space const&, long) {}
  template <class Space, class T> void sum(Space const&, T*, long) {}
  template <class Space, class T> void begin(Space const&, T*, long) {}
  template <class Space> void finish(Space const&) {}
  void progress() {}
  long exclusive_sum(long) { return 0; }
};

}  // namespace phyllo
