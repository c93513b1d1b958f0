// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/portable.hpp>
#include <phyllo/op/kernel_traits.hpp>
#include <phyllo/op/segment_limits.hpp>

#include <Kokkos_Core.hpp>

// Matrix instructions: sm_80 and newer, gfx90a and newer.
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__) && !defined(KOKKOS_ARCH_PASCAL) && \
    !defined(KOKKOS_ARCH_VOLTA) && !defined(KOKKOS_ARCH_TURING75)
#define PHYLLO_HAS_CUDA_BACKEND
#include <phyllo/backend/cuda/device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#if defined(PHYLLO_ENABLE_CUBLASLT)
#define PHYLLO_HAS_CUBLASLT_BACKEND
#include <phyllo/backend/blas_lt/contraction.hpp>
#include <phyllo/backend/cuda/cublas_lt.hpp>
#endif
#endif
#if defined(KOKKOS_ENABLE_HIP) && defined(__HIPCC__) &&                        \
    (defined(KOKKOS_ARCH_AMD_GFX90A) || defined(KOKKOS_ARCH_AMD_GFX940) ||     \
     defined(KOKKOS_ARCH_AMD_GFX942) || defined(KOKKOS_ARCH_AMD_GFX942_APU) || \
     defined(KOKKOS_ARCH_AMD_GFX950))
#define PHYLLO_HAS_HIP_BACKEND
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/backend/hip/device.hpp>
#if defined(PHYLLO_ENABLE_HIPBLASLT)
#define PHYLLO_HAS_HIPBLASLT_BACKEND
#include <phyllo/backend/blas_lt/contraction.hpp>
#include <phyllo/backend/hip/hipblas_lt.hpp>
#endif
#endif

// Vector types and intrinsics: a compiler for processors.
#if !defined(__CUDACC__) && !defined(__HIPCC__) && defined(__GNUC__) && \
    (defined(KOKKOS_ENABLE_OPENMP) || defined(KOKKOS_ENABLE_SERIAL))
#define PHYLLO_HAS_HOST_BACKEND
#include <phyllo/backend/host/host.hpp>
#if defined(PHYLLO_ENABLE_ONEDNN)
#define PHYLLO_HAS_ONEDNN_BACKEND
#include <phyllo/backend/onednn/contraction.hpp>
#endif
#endif

// Work recorded for a runtime to launch again as a whole.
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include <phyllo/backend/cuda/recording.hpp>
#include <phyllo/backend/gpu/launch/recorded_work.hpp>
#endif
#if defined(KOKKOS_ENABLE_HIP) && defined(__HIPCC__)
#include <phyllo/backend/gpu/launch/recorded_work.hpp>
#include <phyllo/backend/hip/recording.hpp>
#endif

namespace phyllo::inline PHYLLO_ISA {

/// Kernels in Kokkos only; runs wherever Kokkos does.
struct PortableBackend {
  static constexpr char const* name = "portable";
  /// A thread holds the values of a sample; weights stay in a core's second-level cache. A whole
  /// step has op::WholeStep::blocks work items, too few for a device.
  static constexpr SegmentLimits segment_limits = {.backend = name,
                                                   .widest = 128,
                                                   .fewest_layers = 2,
                                                   .most_layers = 16,
                                                   .most_parameters = 160 * 1024,
                                                   .trains = true,
                                                   .whole_steps = true};
  template <class Op, class Precision> using kernels = portable::Kernels<Op, Precision>;
};

#if defined(PHYLLO_HAS_HOST_BACKEND)
/// Kernels for processors: segments and whole steps tile by tile in vector registers. Its name is
/// that of the space that it was written for; it serves Kokkos' Serial and Threads as well.
struct HostBackend {
  static constexpr char const* name = "openmp";
  static constexpr SegmentLimits segment_limits = UsualLimits::value;
  template <class Op, class Precision> using kernels = host::Kernels<Op, Precision>;
};
using OpenMpBackend = HostBackend;
#endif

#if defined(PHYLLO_HAS_ONEDNN_BACKEND)
/// Wide layers by the library oneDNN where that is faster, else by backend openmp; the component
/// phyllo::onednn. Sums depend on the number of threads.
struct OneDnnBackend {
  static constexpr char const* name = "onednn";
  static constexpr BackendTraits traits = {.reproducible = false};
  static constexpr SegmentLimits segment_limits = HostBackend::segment_limits;
  template <class Op, class Precision> using kernels = onednn::Kernels<Op, Precision>;
};
#endif

#if defined(PHYLLO_HAS_CUDA_BACKEND)
/// Kernels for NVIDIA devices: segments in the registers of warps, by matrix instructions.
struct CudaBackend {
  static constexpr char const* name = "cuda";
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in =
      gpu::segment_limits<cuda::Device, Precision>(name);
  template <class Op, class Precision> using kernels = gpu::Kernels<cuda::Device, Op, Precision>;
};
#endif

#if defined(PHYLLO_HAS_HIP_BACKEND)
/// Kernels for AMD devices: segments in the registers of wavefronts, by matrix instructions.
struct HipBackend {
  static constexpr char const* name = "hip";
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in =
      gpu::segment_limits<hip::Device, Precision>(name);
  template <class Op, class Precision> using kernels = gpu::Kernels<hip::Device, Op, Precision>;
};
#endif

#if defined(PHYLLO_HAS_CUBLASLT_BACKEND)
/// Wide layers of 16 bits by NVIDIA's library, the others by backend cuda; the component
/// phyllo::cublaslt. Sums in the order of the algorithm that the library chooses.
struct CublasLtBackend {
  static constexpr char const* name = "cublaslt";
  static constexpr BackendTraits traits = {.reproducible = false};
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in = CudaBackend::segment_limits_in<Precision>;
  template <class Op, class Precision>
  using kernels = blas_lt::Kernels<cuda::CublasLt, cuda::Device, Op, Precision>;
};
#endif

#if defined(PHYLLO_HAS_HIPBLASLT_BACKEND)
/// The same by AMD's library; the component phyllo::hipblaslt.
struct HipblasLtBackend {
  static constexpr char const* name = "hipblaslt";
  static constexpr BackendTraits traits = {.reproducible = false};
  template <class Precision>
  static constexpr SegmentLimits segment_limits_in = HipBackend::segment_limits_in<Precision>;
  template <class Op, class Precision>
  using kernels = blas_lt::Kernels<hip::HipblasLt, hip::Device, Op, Precision>;
};
#endif

/// Backends in the order in which they are asked; the first that has a kernel for an op runs it.
///
/// options  Backends<A, B, ...>; a backend is a struct with `name` and `kernels<Op, Precision>`,
/// and
///          `segment_limits`, or `segment_limits_in<Precision>`, if it has kernels of segments
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

/// Whether a launch has run when its call returns, so that the caller may do work in between
/// itself.
template <class Space> inline constexpr bool in_order = false;

namespace detail {

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

/// The backends of processors, in the order in which they are asked.
#if defined(PHYLLO_HAS_ONEDNN_BACKEND)
using ProcessorBackends = Backends<OneDnnBackend, HostBackend, PortableBackend>;
#elif defined(PHYLLO_HAS_HOST_BACKEND)
using ProcessorBackends = Backends<HostBackend, PortableBackend>;
#endif

/// The backends of an execution space, unless the user says otherwise.
template <class Space> struct DefaultBackends {
  using type = Backends<PortableBackend>;
};
#if defined(PHYLLO_HAS_CUBLASLT_BACKEND)
template <> struct DefaultBackends<Kokkos::Cuda> {
  using type = Backends<CublasLtBackend, CudaBackend, PortableBackend>;
};
#elif defined(PHYLLO_HAS_CUDA_BACKEND)
template <> struct DefaultBackends<Kokkos::Cuda> {
  using type = Backends<CudaBackend, PortableBackend>;
};
#endif
#if defined(PHYLLO_HAS_HIPBLASLT_BACKEND)
template <> struct DefaultBackends<Kokkos::HIP> {
  using type = Backends<HipblasLtBackend, HipBackend, PortableBackend>;
};
#elif defined(PHYLLO_HAS_HIP_BACKEND)
template <> struct DefaultBackends<Kokkos::HIP> {
  using type = Backends<HipBackend, PortableBackend>;
};
#endif
#if defined(PHYLLO_HAS_HOST_BACKEND) && defined(KOKKOS_ENABLE_OPENMP)
template <> struct DefaultBackends<Kokkos::OpenMP> {
  using type = ProcessorBackends;
};
template <> inline constexpr bool in_order<Kokkos::OpenMP> = true;
#endif
#if defined(PHYLLO_HAS_HOST_BACKEND) && defined(KOKKOS_ENABLE_SERIAL)
template <> struct DefaultBackends<Kokkos::Serial> {
  using type = ProcessorBackends;
};
template <> inline constexpr bool in_order<Kokkos::Serial> = true;
#endif

/// What records the launches of an execution space, to launch them again as one graph; void where
/// its runtime has no such thing.
template <class Space> struct Recorder {
  using type = void;
};
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
template <> struct Recorder<Kokkos::Cuda> {
  using type = gpu::RecordedWork<cuda::Recording>;
};
#endif
#if defined(KOKKOS_ENABLE_HIP) && defined(__HIPCC__)
template <> struct Recorder<Kokkos::HIP> {
  using type = gpu::RecordedWork<hip::Recording>;
};
#endif

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
