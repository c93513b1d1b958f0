// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/in_kernel/in_kernel_transfer.hpp>
#include <phyllo/network/matrices.hpp>
#include <phyllo/network/ports.hpp>

#include <Kokkos_Core.hpp>

#include <climits>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::detail {

// What is wrong with an argument of a call inside a kernel.
enum class ArgumentFit { fits, one_number, other_extent, not_indexed, read_only, integers, matrix };

// Elements of T that its type states; 0: it states none. Arrays, views of rank 1 (Kokkos' and the
// standard's), spans, and any type with a static size().
template <class T> constexpr long static_elements() {
  long count = 0;
  if constexpr (std::is_array_v<T>)
    count = long(std::extent_v<T>);
  else if constexpr (requires { std::integral_constant<std::size_t, T::static_extent(0)>{}; })
    count = long(T::static_extent(0));
  else if constexpr (requires { std::integral_constant<std::size_t, T::extent>{}; })
    count = long(T::extent);
  else if constexpr (requires { std::tuple_size<T>::value; })
    count = long(std::tuple_size<T>::value);
  else if constexpr (requires { std::integral_constant<std::size_t, T::size()>{}; })
    count = long(T::size());
  // Kokkos and the standard state a number beyond int for a dynamic extent.
  return count > 0 && count <= INT_MAX ? count : 0;
}

// A constant, because nvcc takes a call in device code for one at run time.
template <class T> inline constexpr bool states_no_extent = static_elements<T>() == 0;

template <class T>
concept TakesIndex = requires(T& numbers) { numbers[0]; } || requires(T& numbers) { numbers(0); };

template <class T> using number_type = decltype(number_at(std::declval<T const&>(), 0));

// Whether T is no view, or one of rank 1: views of other ranks fail inside operator().
template <class T> constexpr bool has_rank_one() {
  if constexpr (requires { std::integral_constant<std::size_t, T::rank()>{}; })
    return T::rank() == 1;
  else
    return std::rank_v<T> < 2;
}

// Whether an argument of type T stands for Size numbers, to be read as Accumulate or written.
template <int Size, bool IsOutput, class Accumulate, class T> constexpr ArgumentFit argument_fit() {
  if constexpr (!has_rank_one<T>() || requires { typename T::begins_type; })  // an OffsetView
    return ArgumentFit::not_indexed;
  else if constexpr (!requires(T const& x) { static_cast<Accumulate>(number_at(x, 0)); })
    return ArgumentFit::not_indexed;
  else if constexpr (!TakesIndex<T const> && Size != 1)
    return ArgumentFit::one_number;
  else if constexpr (TakesIndex<T const> && !states_no_extent<T> && static_elements<T>() != Size)
    return ArgumentFit::other_extent;
  else if constexpr (IsOutput &&
                     !std::is_assignable_v<number_type<T>, std::remove_cvref_t<number_type<T>>>)
    return ArgumentFit::read_only;
  else
    return ArgumentFit::fits;
}

/// The sentence about an argument that does not fit. In no constant expression: where its assertion
/// fails, Clang would go on with both branches.
template <ArgumentFit fit> struct CheckedArgument {
  static_assert(
      fit != ArgumentFit::one_number,
      "in_kernel: an argument is one number, and the network's input or output has several. "
      "Pass a View, an array or a pointer with all of them.");
  static_assert(fit != ArgumentFit::other_extent,
                "in_kernel: an argument has another number of elements than the network's input or "
                "output. Pass as many numbers as the network has there.");
  static_assert(
      fit != ArgumentFit::not_indexed,
      "in_kernel: an argument is neither a number nor indexed by one integer. Pass a View of "
      "rank 1 whose first index is zero, an array, a pointer or a function of the index, without a "
      "name.");
  static_assert(fit != ArgumentFit::integers,
                "in_kernel: the network has an IntegerInput, which calls inside kernels do not "
                "take. Call infer, or begin the network behind its Embedding.");
  static_assert(fit != ArgumentFit::matrix,
                "in_kernel: the network has a SparseProduct or a GraphConvolution, whose matrix "
                "mixes samples. Call infer for all nodes of the graph.");
  static_assert(
      fit != ArgumentFit::read_only,
      "in_kernel: an output is read-only. Pass a View, a pointer or a function that returns "
      "a reference; arrays are passed by reference to const.");
};

/// The arguments of a call inside a kernel: the inputs of a network, and behind them, by a team,
/// its outputs.
///
/// state    fit: of the first argument that does not fit, for CheckedArgument
template <class Net, class Accumulate, class... T> struct InKernelArguments {
  template <std::size_t I> static constexpr bool is_output = int(I) >= Ports<Net>::inputs;
  template <std::size_t I> static constexpr int size() {
    if constexpr (is_output<I>)
      return Ports<Net>::output_shape(int(I) - Ports<Net>::inputs).size();
    else
      return Ports<Net>::input_shape(int(I)).size();
  }
  template <std::size_t... I> static constexpr ArgumentFit first_misfit(std::index_sequence<I...>) {
    if (Matrices<Net>::count > 0) return ArgumentFit::matrix;
    for (int k = 0; k < Ports<Net>::inputs; ++k)
      if (Ports<Net>::takes_integers(k)) return ArgumentFit::integers;
    ArgumentFit const all[] = {argument_fit<size<I>(), is_output<I>, Accumulate, T>()...,
                               ArgumentFit::fits};
    for (ArgumentFit const one : all)
      if (one != ArgumentFit::fits) return one;
    return ArgumentFit::fits;
  }
  static constexpr ArgumentFit fit = first_misfit(std::index_sequence_for<T...>{});
  static constexpr bool fits = fit == ArgumentFit::fits;
};

/// Where PHYLLO_CHECKS_CALLS, ends a kernel whose argument has another extent than Size at run
/// time.
template <int Size, bool IsOutput, class T>
PHYLLO_FUNCTION void check_extent([[maybe_unused]] T const& numbers) {
#if PHYLLO_CHECKS_CALLS
  if constexpr (TakesIndex<T const> && states_no_extent<T>) {
    std::size_t extent = std::size_t(Size);
    if constexpr (requires { std::size_t(numbers.extent(0)); })
      extent = std::size_t(numbers.extent(0));
    else if constexpr (requires { std::size_t(numbers.size()); })
      extent = std::size_t(numbers.size());
    if (extent != std::size_t(Size))
      Kokkos::abort(IsOutput ? "in_kernel: an output has another number of elements than the "
                               "network's. Pass a View "
                               "with one element for each number of the output."
                             : "in_kernel: an input has another number of elements than the "
                               "network's. Pass a View "
                               "with one element for each number of the input.");
  }
#endif
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
