// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/loss_sum.hpp>
#include <phyllo/backend/gpu/normalization.hpp>
#include <phyllo/backend/gpu/product/contraction.hpp>
#include <phyllo/backend/gpu/segment/segment.hpp>
#include <phyllo/backend/gpu/segment/segment_layout.hpp>
#include <phyllo/backend/gpu/segment_limits.hpp>
#include <phyllo/backend/gpu/step/stored_step_kernels.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Whether each layer of a segment fits scratch memory.
template <class Device, class Segment, class P>
concept FitsScratch = SegmentLayout<typename Device::template MmaAtom<typename P::storage>,
                                    Segment>::scratch_bytes() <=
                      Device::template MmaAtom<typename P::storage>::scratch_budget;

/// Kernels for devices with matrix cores, of any vendor.
///
/// options  Device: cuda::Device, hip::Device
template <class Device, class Op, class Precision> struct Kernels;

template <class Device, class Chain, class P>
  requires(has_instruction<P>)
struct Kernels<Device, op::Contraction<Chain>, P> : ContractionKernels<Device, Chain, P> {};

template <class Device, class Chain, class P>
  requires(has_instruction<P>)
struct Kernels<Device, op::Normalization<Chain>, P> : NormalizationKernels<Device, Chain, P> {};

template <class Device, class P>
struct Kernels<Device, op::LossSum<P>, P> : LossSumKernels<Device, P> {};

template <class Device, class... D, class P>
  requires(is_perceptron<op::Segment<D...>> && has_instruction<P> &&
           FitsScratch<Device, op::Segment<D...>, P>)
struct Kernels<Device, op::Segment<D...>, P> : SegmentKernels<Device, op::Segment<D...>, P> {};

/// Whether a block has room for all that a training step keeps of its samples.
template <class Device, class Segment, class P, bool HasLoss = true>
concept KeepsStep =
    step_warps<typename Device::template MmaAtom<typename P::storage>, Segment, HasLoss> > 0;

template <class Device, class... D, class L, class P>
  requires(is_perceptron<op::Segment<D...>> && has_instruction<P> &&
           KeepsStep<Device, op::Segment<D...>, P>)
struct Kernels<Device, op::WholeStep<op::Segment<D...>, L>, P>
    : WholeStepKernels<Device, op::Segment<D...>, L, P> {};

template <class Device, class... D, class L, class P>
  requires(is_perceptron<op::Segment<D...>> && has_instruction<P> &&
           FitsScratch<Device, op::Segment<D...>, P> && !KeepsStep<Device, op::Segment<D...>, P>)
struct Kernels<Device, op::WholeStep<op::Segment<D...>, L>, P>
    : StoredStepKernels<Device, op::Segment<D...>, L, P> {};

template <class Device, class... D, class P>
  requires(is_perceptron<op::Segment<D...>> && has_instruction<P> &&
           KeepsStep<Device, op::Segment<D...>, P, false>)
struct Kernels<Device, op::SegmentBackward<op::Segment<D...>>, P>
    : WholeStepKernels<Device, op::Segment<D...>, GivenGradient, P> {};

template <class Device, class... D, class P>
  requires(is_perceptron<op::Segment<D...>> && has_instruction<P> &&
           FitsScratch<Device, op::Segment<D...>, P> &&
           !KeepsStep<Device, op::Segment<D...>, P, false>)
struct Kernels<Device, op::SegmentBackward<op::Segment<D...>>, P>
    : StoredStepKernels<Device, op::Segment<D...>, GivenGradient, P> {};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
