// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The longer path of a Residual.
///
/// errors   those of Residual
template <class... Parts> struct Main {};

/// The shorter path of a Residual; empty: the identity.
///
/// errors   those of Residual
template <class... Parts> struct Shortcut {};

/// Main path plus shortcut: y = main(x) + shortcut(x). Without Main<...> the parts themselves are
/// the main path.
///
/// shape    (N, C, S...) -> what both paths produce
/// errors   compile: paths that produce different shapes
/// source   He et al., "Deep Residual Learning", CVPR 2016
template <class... Parts> struct Residual {};

}  // namespace phyllo::inline PHYLLO_ISA
