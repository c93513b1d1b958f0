// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>

#include <concepts>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// One floating type for everything: storage, sums and parameters.
///
/// options  T = double | float
template <class T> struct Full {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>,
                "Full<T>: T must be double or float. For 16 bits use Mixed<bf16, float>.");
  using storage = T;     // activations and the parameters that kernels read
  using accumulate = T;  // sums, gradients of parameters, optimizer state, master parameters
  static constexpr bool has_master = false;
  static constexpr bool scales_loss = false;
};

/// 16-bit storage with float sums, float gradients and a float master copy of the parameters.
///
/// options  Storage = bf16 | fp16 · Accumulate = float
/// numerics fp16 trains with dynamic loss scaling; bf16 has float's exponents and needs none
/// source   Micikevicius et al., "Mixed Precision Training", ICLR 2018
template <class Storage, class Accumulate> struct Mixed {
  static_assert(std::is_same_v<Storage, bf16> || std::is_same_v<Storage, fp16>,
                "Mixed<Storage, Accumulate>: Storage must be phyllo::bf16 or phyllo::fp16.");
  static_assert(std::is_same_v<Accumulate, float>,
                "Mixed<Storage, Accumulate>: Accumulate must be float.");
  using storage = Storage;
  using accumulate = Accumulate;
  static constexpr bool has_master = true;
  static constexpr bool scales_loss = std::is_same_v<Storage, fp16>;
};

/// The members of a precision policy.
template <class P>
concept Precision = requires {
  typename P::storage;
  typename P::accumulate;
  { P::has_master } -> std::convertible_to<bool>;
  { P::scales_loss } -> std::convertible_to<bool>;
};

}  // namespace phyllo::inline PHYLLO_ISA
