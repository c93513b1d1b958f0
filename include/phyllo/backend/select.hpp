// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/portable.hpp>

#include <type_traits>

namespace phyllo {

/// Kernels in Kokkos only; runs wherever Kokkos does.
struct PortableBackend {
  static constexpr char const* name = "portable";
  template <class Op, class Precision> using kernels = portable::Kernels<Op, Precision>;
};

/// Backends in the order in which they are asked; the first that has a kernel for an op runs it.
///
/// options  Backends<A, B, ...>; a backend is a struct with `name` and `kernels<Op, Precision>`
template <class... B> struct Backends {};

namespace detail {

template <class K>
concept HasKernel = requires { sizeof(K); };

// An op that no backend of the list has a kernel for.
template <class Op> struct NoKernel {
  static_assert(sizeof(Op) == 0,
                "Backends: no backend of the list has a kernel for this op. Put PortableBackend at "
                "the end of the list.");
};

template <class Op, class Precision, class List> struct Select;
template <class Op, class Precision> struct Select<Op, Precision, Backends<>> {
  using backend = NoKernel<Op>;
};
template <class Op, class Precision, class First, class... Rest>
struct Select<Op, Precision, Backends<First, Rest...>> {
  static constexpr bool has = HasKernel<typename First::template kernels<Op, Precision>>;
  template <bool, class F> struct Choice {
    using backend = F;
  };
  template <class F> struct Choice<false, F> : Select<Op, Precision, Backends<Rest...>> {};
  using backend = typename Choice<has, First>::backend;
};

}  // namespace detail

/// The backend that runs an op.
template <class Op, class Precision, class List>
using SelectedBackend = typename detail::Select<Op, Precision, List>::backend;

/// Its kernels.
template <class Op, class Precision, class List>
using SelectedKernels =
    typename SelectedBackend<Op, Precision, List>::template kernels<Op, Precision>;

}  // namespace phyllo
