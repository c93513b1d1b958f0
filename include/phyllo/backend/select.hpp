// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/backend.hpp>
#include <phyllo/backend/hip/backend.hpp>
#include <phyllo/backend/host/backend.hpp>
#include <phyllo/backend/kokkos_kernels/backend.hpp>
#include <phyllo/backend/onednn/backend.hpp>
#include <phyllo/backend/portable/backend.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

struct CublasLtBackend;
struct CudaBackend;
struct HipblasLtBackend;
struct HipBackend;
struct OneDnnBackend;
struct KokkosKernelsBackend;
struct HostBackend;

/// Backends in the order in which they are asked; the first that has a kernel for an op runs it.
///
/// options  Backends<A, B, ...>; a backend is a struct with `name` and `kernels<Op, Precision>`,
///          and `segment_limits`, or `segment_limits_in<Precision>`, if it has kernels of segments
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

// A list without the backends whose bits depend on the number of threads.
template <class Kept, class List> struct OnlyReproducible;
template <class... Kept> struct OnlyReproducible<Backends<Kept...>, Backends<>> {
  using type = Backends<Kept...>;
};
template <class... Kept, class First, class... Rest>
struct OnlyReproducible<Backends<Kept...>, Backends<First, Rest...>>
    : OnlyReproducible<Backends<Kept..., First>, Backends<Rest...>> {};
template <class... Kept, class First, class... Rest>
  requires(!backend_traits<First>.reproducible)
struct OnlyReproducible<Backends<Kept...>, Backends<First, Rest...>>
    : OnlyReproducible<Backends<Kept...>, Backends<Rest...>> {};

}  // namespace detail

/// The backends of a list that keep the promise of Reproducible: all but those that state
/// BackendTraits without it.
template <class List>
using ReproducibleBackends = typename detail::OnlyReproducible<Backends<>, List>::type;

namespace detail {

template <class B, class Space> struct Serves : std::false_type {};
template <class B, class Space>
  requires requires { sizeof(B); }
struct Serves<B, Space> : std::bool_constant<B::template serves<Space>> {};

// Those of a list that exist in this translation unit, and serve a space.
template <class Space, class Kept, class List> struct Serving;
template <class Space, class... Kept> struct Serving<Space, Backends<Kept...>, Backends<>> {
  using type = Backends<Kept...>;
};
template <class Space, class... Kept, class First, class... Rest>
struct Serving<Space, Backends<Kept...>, Backends<First, Rest...>>
    : Serving<Space,
              std::conditional_t<Serves<First, Space>::value, Backends<Kept..., First>,
                                 Backends<Kept...>>,
              Backends<Rest...>> {};

}  // namespace detail

/// The backends of the library, in the order in which they are asked. The header
/// backend/<name>/backend.hpp defines those that exist in this translation unit, and which spaces
/// they serve.
using AllBackends = Backends<CublasLtBackend, CudaBackend, HipblasLtBackend, HipBackend,
                             OneDnnBackend, KokkosKernelsBackend, HostBackend, PortableBackend>;

/// The backends of an execution space, unless the user says otherwise.
template <class Space> struct DefaultBackends : detail::Serving<Space, Backends<>, AllBackends> {};

namespace detail {

struct NoSegments {
  static constexpr SegmentLimits value = {};
};
template <class B> struct StatedLimits {
  static constexpr SegmentLimits value = B::segment_limits;
};
template <class B, class P> struct StatedLimitsFor {
  static constexpr SegmentLimits value = B::template segment_limits_in<P>;
};
template <class B, class P> struct LimitsOfBackend {
  using type = NoSegments;
};
template <class B, class P>
  requires requires { B::segment_limits; }
struct LimitsOfBackend<B, P> {
  using type = StatedLimits<B>;
};
template <class B, class P>
  requires requires { B::template segment_limits_in<P>; }
struct LimitsOfBackend<B, P> {
  using type = StatedLimitsFor<B, P>;
};
template <class P, class List> struct FirstLimits {
  using type = NoSegments;
};
template <class P, class First, class... Rest> struct FirstLimits<P, Backends<First, Rest...>> {
  using own = typename LimitsOfBackend<First, P>::type;
  using type = typename std::conditional_t<(own::value.widest > 0), std::type_identity<own>,
                                           FirstLimits<P, Backends<Rest...>>>::type;
};

}  // namespace detail

/// What the planner asks of a list of backends: `value` has the SegmentLimits of the first one that
/// has segments in a precision.
template <class P, class List> using SelectedLimits = typename detail::FirstLimits<P, List>::type;

/// The backend that runs an op.
template <class Op, class Precision, class List>
using SelectedBackend = typename detail::Select<Op, Precision, List>::backend;

/// Its kernels.
template <class Op, class Precision, class List>
using SelectedKernels =
    typename SelectedBackend<Op, Precision, List>::template kernels<Op, Precision>;

}  // namespace phyllo::inline PHYLLO_ISA
