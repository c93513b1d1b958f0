// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One thread of a Kokkos team with its vector lanes, which call a network together inside a
/// kernel: a warp or a wavefront if the policy's vector length is that of the device; on a
/// processor, one thread.
///
/// state    a reference to the caller's team member
template <class Member> struct Warp {
  Member const& member;

  PHYLLO_FUNCTION explicit Warp(Member const& m) : member(m) {}
};

}  // namespace phyllo::inline PHYLLO_ISA
