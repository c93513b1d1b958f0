// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/policy/trained_state.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// A policy whose own numbers between two steps a checkpoint contains.
///   own_state      this rank's; finishes sums that are under way, which are used when they are
///   due.
///                  Equally many on all ranks. Collective
///   is_own_state   whether numbers, which may come from a damaged file, are such a state
///   set_own_state  takes them over on the same ranks; none: begins anew. Collective
template <class C>
concept StoresState =
    requires(C& c, Kokkos::DefaultExecutionSpace const& exec,
             TrainedState<float, float> const& state, std::vector<double> const& numbers) {
      { c.own_state(exec, state) } -> std::same_as<std::vector<double>>;
      { c.is_own_state(state, numbers) } -> std::same_as<bool>;
      c.set_own_state(exec, state, numbers);
    };

namespace detail {

// Arrays are stored as words of 32 bits, each in a double: ranks can add them to zeros, and signs
// of zeros and numbers that are not finite stay as they are. The last word may be of fewer bytes.
inline long words_in(long bytes) { return (bytes + 3) / 4; }

inline constexpr long largest_count = 1L << 53;  // all integers up to it are doubles
// Whether a number is a whole one from 0 to `most`.
inline bool is_count(double number, long most) {
  return number >= 0 && number <= double(most) && number == double(long(number));
}

// Bytes of an execution space, behind the numbers.
template <class Space>
void append_words(Space const& exec, std::vector<double>& numbers, void const* from, long bytes) {
  using Bytes = Kokkos::View<std::byte const*, typename Space::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Host = Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (bytes == 0) return;
  std::vector<std::uint32_t> words(std::size_t(words_in(bytes)));
  Kokkos::deep_copy(exec, Host(reinterpret_cast<std::byte*>(words.data()), std::size_t(bytes)),
                    Bytes(static_cast<std::byte const*>(from), std::size_t(bytes)));
  exec.fence("phyllo: checkpoint");
  numbers.insert(numbers.end(), words.begin(), words.end());
}
// The reverse, from numbers[at] on; at moves behind them.
template <class Space>
void take_words(Space const& exec, std::vector<double> const& numbers, std::size_t& at, void* to,
                long bytes) {
  using Bytes = Kokkos::View<std::byte*, typename Space::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Host =
      Kokkos::View<std::byte const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (bytes == 0) return;
  std::vector<std::uint32_t> words(std::size_t(words_in(bytes)));
  for (std::uint32_t& word : words) {
    double const number = numbers[at++];
    word = is_count(number, 0xffffffffL) ? std::uint32_t(number) : 0;
  }
  Kokkos::deep_copy(exec, Bytes(static_cast<std::byte*>(to), std::size_t(bytes)),
                    Host(reinterpret_cast<std::byte const*>(words.data()), std::size_t(bytes)));
  exec.fence("phyllo: checkpoint");
}

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
