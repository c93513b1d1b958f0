// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/device.hpp>
#include <phyllo/backend/gpu/contraction.hpp>
#include <phyllo/backend/gpu/normalization.hpp>
#include <phyllo/backend/gpu/segment.hpp>

#if defined(__CUDACC__)

namespace phyllo::cuda {

/// Kernels for NVIDIA devices.
template <class Op, class Precision> struct Kernels;

template <class Chain, class P>
  requires(gpu::has_instruction<P>)
struct Kernels<op::Contraction<Chain>, P> : gpu::ContractionKernels<Device, Chain, P> {};

template <class Chain, class P>
  requires(gpu::has_instruction<P>)
struct Kernels<op::Normalization<Chain>, P> : gpu::NormalizationKernels<Device, Chain, P> {};

template <class... D, class P>
  requires(gpu::is_perceptron<op::Segment<D...>> && gpu::has_instruction<P>)
struct Kernels<op::Segment<D...>, P> : gpu::SegmentKernels<Device, op::Segment<D...>, P> {};

template <class... D, class L, class P>
  requires(gpu::is_perceptron<op::Segment<D...>> && gpu::has_instruction<P> &&
           gpu::step_warps<Device::Unit<typename P::storage>, op::Segment<D...>> > 0)
struct Kernels<op::WholeStep<op::Segment<D...>, L>, P>
    : gpu::WholeStepKernels<Device, op::Segment<D...>, L, P> {};

}  // namespace phyllo::cuda

#endif
