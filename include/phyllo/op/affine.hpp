// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// The scale of channel c of a normalisation; nullptr, as with Affine<false>: one.
template <class A, class S> PHYLLO_INLINE A scale_at(S const* scale, long c) {
  return scale != nullptr ? A(scale[c]) : A(1);
}
/// The shift of channel c of a normalisation; nullptr: zero.
template <class A, class S> PHYLLO_INLINE A shift_at(S const* shift, long c) {
  return shift != nullptr ? A(shift[c]) : A(0);
}

}  // namespace phyllo::inline PHYLLO_ISA::op
