// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Options that other libraries call by other names.
enum class Option {
  rate,
  rate_factor,
  weight_decay,
  betas,
  epsilon,
  batch,
  seed,
  scaling,
  clipping,
  largest_norm,
  largest_value,
  initial,
  interval,
  largest,
  device_memory,
  largest_count,
};

/// A member with another library's name of an option: to initialise it is one compile error, which
/// contains the right name. It follows the option that is meant, so that the designated
/// initialisers after it are in order.
///
/// options  Meant: the option
/// errors   compile: any initialiser
/// cost     one byte, so that host and device compilers agree on the layout without
///          [[no_unique_address]]. A member of an anonymous union with the option costs none, but
///          g++ -Wextra then warns of every initialiser that leaves the union out.
template <Option Meant> struct Misspelt {
  Misspelt() = default;
  template <class... T>
    requires(sizeof...(T) > 0)
  constexpr Misspelt(T const&...) {
    constexpr bool never = sizeof...(T) == 0;
    static_assert(Meant != Option::rate || never,
                  "Options: the learning rate is called rate. Write {.rate = 0.1f}.");
    static_assert(Meant != Option::rate_factor || never,
                  "Options: a group's learning rate is that of the rule times rate_factor. Write "
                  "{.rate_factor = 0.1}.");
    static_assert(
        Meant != Option::weight_decay || never,
        "Options: the factor of the weights in the gradient is called weight_decay. Write "
        "{.weight_decay = 1e-4f}.");
    static_assert(Meant != Option::betas || never,
                  "Options: the decay rates of Adam's moments are called beta1 and beta2. Write "
                  "{.beta1 = 0.9f, .beta2 = 0.999f}.");
    static_assert(Meant != Option::epsilon || never,
                  "Options: the term of the denominator is called epsilon. Write {.epsilon = "
                  "1e-8f}.");
    static_assert(Meant != Option::batch || never,
                  "Options: the largest number of samples is called batch. Write {.batch = 256}.");
    static_assert(Meant != Option::seed || never,
                  "Options: the random seed is called seed. Write {.seed = 1}.");
    static_assert(Meant != Option::scaling || never,
                  "Options: loss scaling is called scaling. Write {.scaling = {.initial = "
                  "65536}}.");
    static_assert(Meant != Option::clipping || never,
                  "Options: clipping of the gradient's norm is called clipping. Write {.clipping = "
                  "{.largest_norm = 1}}.");
    static_assert(Meant != Option::largest_norm || never,
                  "Options: the bound of the gradient's norm is called largest_norm. Write "
                  "{.largest_norm = 1}.");
    static_assert(Meant != Option::largest_value || never,
                  "Options: the bound of the gradient's elements is called largest_value. Write "
                  "{.largest_value = 1}.");
    static_assert(Meant != Option::initial || never,
                  "Options: the first loss scale is called initial. Write {.initial = 65536}.");
    static_assert(Meant != Option::interval || never,
                  "Options: the number of steps between two growths of the loss scale is called "
                  "interval. Write {.interval = 2000}.");
    static_assert(Meant != Option::largest || never,
                  "Options: the bound of the loss scale is called largest. Write {.largest = "
                  "65536}.");
    static_assert(Meant != Option::device_memory || never,
                  "Options: whether MPI reads the device's memory is called device_memory. Write "
                  "{.device_memory = true}, or use GpuAwareMpi, which finds out.");
    static_assert(
        Meant != Option::largest_count || never,
        "Options: the bound of the numbers in one MPI call is called largest_count. Write "
        "{.largest_count = 1 << 20}.");
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
