// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/random.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::detail {

// Positions in RandomKey that no layer of a network has, so that a seed may be a trainer's too.
inline constexpr std::uint32_t replay_draw = 0xffff, replay_reservoir = 0xfffe;

/// A number from 0 to count - 1, from 53 random bits.
PHYLLO_INLINE long long random_below(RandomKey const& name, long long count) {
  PhiloxBlock const block = random_block(name);
  std::uint64_t const bits = (std::uint64_t(block.word[0]) << 32 | block.word[1]) >> 11;
  long long const drawn = static_cast<long long>(double(bits) * 0x1p-53 * double(count));
  return drawn < count ? drawn : count - 1;
}

// The slot of each sample of a push; the latest sample that has a slot owns it.
template <class Longs> struct ClaimSlots {
  Longs owner, slots;
  long long first, end, capacity;  // numbers of the samples of this push; slots
  std::uint64_t seed;
  std::uint32_t rank;
  bool is_reservoir;

  PHYLLO_INLINE long long slot(long long sample) const {
    if (sample < capacity) return sample;
    if (!is_reservoir) return sample + capacity < end ? -1 : sample % capacity;
    long long const drawn =
        random_below({seed, 0, replay_reservoir, std::uint64_t(sample), 4 * rank}, sample + 1);
    return drawn < capacity ? drawn : -1;
  }
  PHYLLO_INLINE void operator()(long i) const {
    long long const sample = first + i, s = slot(sample);
    slots(i) = s;
    if (s >= 0) Kokkos::atomic_max(&owner(s), sample);
  }
};

template <class View> PHYLLO_INLINE decltype(auto) element_of(View const& v, long n, long e) {
  static_assert(View::rank >= 1 && View::rank <= 5, "ReplayBuffer: expected Views of rank 1 to 5.");
  if constexpr (View::rank == 1) {
    return v(n);
  } else if constexpr (View::rank == 2) {
    return v(n, e);
  } else {
    long const z = long(v.extent(View::rank - 1)), y = long(v.extent(View::rank - 2));
    if constexpr (View::rank == 3)
      return v(n, e / z, e % z);
    else if constexpr (View::rank == 4)
      return v(n, e / z / y, e / z % y, e % z);
    else
      return v(n, e / z / y / long(v.extent(2)), e / z / y % long(v.extent(2)), e / z % y, e % z);
  }
}

template <class Longs, class From, class T> struct StoreSamples {
  Longs owner, slots;
  From from;
  T* to;
  long elements;
  long long first;

  PHYLLO_INLINE void operator()(long i) const {
    long const sample = i / elements, element = i % elements;
    long long const slot = slots(sample);
    if (slot >= 0 && owner(slot) == first + sample)
      to[slot * elements + element] = static_cast<T>(element_of(from, sample, element));
  }
};

// Whether an integer type has every value of another one.
template <class T, class From>
inline constexpr bool holds_all =
    std::numeric_limits<From>::digits <= std::numeric_limits<T>::digits &&
    (std::is_signed_v<T> || std::is_unsigned_v<From>);

// Integers that are others as T.
template <class From, class T> struct CountMisfits {
  From from;
  long elements;

  PHYLLO_INLINE void operator()(long i, long& count) const {
    using Pushed = typename From::non_const_value_type;
    Pushed const value = element_of(from, i / elements, i % elements);
    T const stored = static_cast<T>(value);
    // Between signed and unsigned types the value may come back with another sign in between.
    if (static_cast<Pushed>(stored) != value || (stored < T(1)) != (value < Pushed(1))) ++count;
  }
};

template <class T> struct DrawSamples {
  T const* from;
  T* to;
  long elements, batch, count;
  std::uint64_t seed, draw;
  std::uint32_t rank;

  PHYLLO_INLINE void operator()(long i) const {
    long const sample = i / elements, element = i % elements;
    long long const slot =
        random_below({seed, draw, replay_draw, std::uint64_t(rank) * batch + sample, 0}, count);
    to[i] = from[slot * elements + element];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
