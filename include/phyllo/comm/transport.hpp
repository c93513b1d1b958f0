// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/policy/communication.hpp>

namespace phyllo {

/// What carries sums between ranks. It knows memory and messages, and no gradients: when something
/// is summed, and what, is the communication policy's business. The calls are those of the same
/// names in Communication; reserve takes the bytes and the transfers of one step.
template <class T>
concept Transport = requires(T& t, T const& constant, Kokkos::DefaultExecutionSpace const& exec,
                             float* single, double* twofold, long count) {
  { T::name } -> std::convertible_to<char const*>;
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  t.reserve(exec, count, count);
  t.sum(exec, single, count);
  t.sum(exec, twofold, count);
  t.begin(exec, single, count);
  t.begin(exec, twofold, count);
  t.finish(exec);
  t.progress();
  { t.exclusive_sum(count) } -> std::same_as<long>;
};

}  // namespace phyllo
