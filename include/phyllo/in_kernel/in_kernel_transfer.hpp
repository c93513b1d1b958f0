// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::detail {

// The caller's place in a team, of whatever execution space.
template <class M>
concept TeamMember = requires(M const& member) {
  member.team_rank();
  member.team_size();
  member.team_barrier();
  member.team_scratch(0);
};

// Items of a step one after the other. Lanes: outputs that a contraction computes at once.
struct ByThread {
  static constexpr int lanes = 32;

  template <class Items> PHYLLO_FUNCTION void run(Items const& items) const {
    for (int i = 0; i < Items::items; ++i) items(i);
  }
};

// Items of a step by the threads and vector lanes of a team. Where threads read the host's memory
// they have vector registers of their own; elsewhere each output has a lane, and reads coalesce.
template <class Member> struct ByTeam {
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<typename Member::execution_space, Kokkos::HostSpace>::accessible;
  static constexpr int lanes = on_host ? 16 : 1;
  Member const& member;

  template <class Items> PHYLLO_FUNCTION void run(Items const& items) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, int(Items::items)), items);
    member.team_barrier();
  }
};

// Items of a step by the vector lanes of one thread of a team: one output a lane, as in a team.
template <class Member> struct ByWarp {
  static constexpr int lanes = ByTeam<Member>::lanes;
  Member const& member;

  template <class Items> PHYLLO_FUNCTION void run(Items const& items) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, int(Items::items)), items);
    PHYLLO_LANES_MEET();
  }
};

// Number i of what the caller gave: of anything with [] or (), or the one number that it is.
template <class Numbers> PHYLLO_FUNCTION decltype(auto) number_at(Numbers& numbers, int i) {
  if constexpr (requires { numbers[i]; })
    return numbers[i];
  else if constexpr (requires { numbers(i); })
    return numbers(i);
  else
    return (numbers);
}

// Where element i of a channels-last value stands in the field's order, channels first.
template <int Channels, int Positions> PHYLLO_FUNCTION int logical_index(int i) {
  return i % Channels * Positions + i / Channels;
}

/// The caller's numbers into a value: (C, S) -> (S, C).
template <class Storage, class Accumulate, int Channels, int Positions, class Value, class Numbers>
struct InKernelLoad {
  static constexpr int items = Channels * Positions;
  Value* to;
  Numbers const& numbers;

  PHYLLO_FUNCTION void operator()(int i) const {
    auto const x =
        static_cast<Accumulate>(number_at(numbers, logical_index<Channels, Positions>(i)));
    to[i] = static_cast<Value>(static_cast<Storage>(x));
  }
};

/// A value into the caller's numbers: (S, C) -> (C, S).
template <class Accumulate, int Channels, int Positions, class Value, class Numbers>
struct InKernelStore {
  static constexpr int items = Channels * Positions;
  Value const* from;
  Numbers& numbers;

  PHYLLO_FUNCTION void operator()(int i) const {
    auto& to = number_at(numbers, logical_index<Channels, Positions>(i));
    to = static_cast<std::remove_reference_t<decltype(to)>>(static_cast<Accumulate>(from[i]));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
