// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One path of a Branch; empty: the identity.
///
/// errors   those of Branch
template <class... Parts> struct Path {};

/// Several paths from one value, their channels concatenated in order.
///
/// shape    (N, C, S...) -> (N, sum of the paths' channels, S'...)
/// errors   compile: paths that produce different spatial extents; fewer than two paths or more
///          than four
/// source   Szegedy et al., "Going Deeper with Convolutions", CVPR 2015
template <class... Paths> struct Branch : detail::NoLayer {
  // Read only where a wrong number of paths made it stay in the list.
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "Branch: expected two, three or four paths.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
