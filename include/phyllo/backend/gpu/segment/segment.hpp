// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/segment/segment_forward.hpp>
#include <phyllo/backend/gpu/step/whole_step.hpp>
#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/kernel_traits.hpp>
#include <phyllo/op/segment.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Whether there are matrix instructions for a precision: all but float64.
template <class P> inline constexpr bool has_instruction = sizeof(typename P::storage) <= 4;
template <class Segment> inline constexpr bool is_perceptron = false;
template <class... D>
inline constexpr bool is_perceptron<op::Segment<D...>> = (op::is_dense<D> && ...);

/// Operations for a byte of input and output: what a segment computes for a sample over what it
/// reads and writes of memory, in a storage type of so many bytes.
template <class Segment, int Bytes> inline constexpr long intensity = 0;
template <class... D, int Bytes>
inline constexpr long intensity<op::Segment<D...>, Bytes> =
    ((2L * D::inputs * D::outputs) + ...) /
    ((At<TypeList<D...>, 0>::inputs + At<TypeList<D...>, sizeof...(D) - 1>::outputs) * Bytes);

/// The instruction that runs a segment. Devices may have one for those that wait for products and
/// not for memory: `ComputeBoundUnit<Storage>`, from `compute_bound_intensity` on.
template <class Device, class Segment, class S> struct SegmentAtom {
  using type = typename Device::template MmaAtom<S>;
};
template <class Device, class Segment, class S>
  requires(intensity<Segment, int(sizeof(S))> >= Device::compute_bound_intensity) &&
          requires { typename Device::template ComputeBoundUnit<S>::Sums; }
struct SegmentAtom<Device, Segment, S> {
  using type = typename Device::template ComputeBoundUnit<S>;
};

/// Inference of a narrow perceptron on matrix cores.
///
/// options  Device: a vendor's matrix instruction `MmaAtom<Storage>`, and how its kernels are
///          launched, `launch(exec, label, kernel, blocks)`, which says how many blocks there are
template <class Device, class Segment, class P> struct SegmentKernels {
  /// The caller's Views are read and written by the lanes that hold the values.
  static constexpr KernelTraits traits = {.takes_views = true};
  using MmaAtom = typename SegmentAtom<Device, Segment, typename P::storage>::type;
  using Kernel = segment_forward<MmaAtom, Segment, P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Segment::template Forward<P> const& work, ExternalTensor const& source,
                  ExternalTensor const& target) {
    if (work.batch == 0) return;
    Kernel const kernel(work, source, target);
    constexpr int block = Kernel::samples_of_block;
    Device::launch(exec, label, kernel, (work.batch + block - 1) / block);
  }
};

/// One work item: one parameter, the rows of the blocks added in their order, four sums at a time.
struct sum_blocks {
  float const* partial = nullptr;  // (blocks, count)
  float* gradients = nullptr;      // (count)
  int count = 0;
  int blocks = 0;

  PHYLLO_FUNCTION void operator()(long i) const {
    float sum[4] = {};
    int b = 0;
    for (; b + 4 <= blocks; b += 4)
      for (int k = 0; k < 4; ++k) sum[k] += partial[long(b + k) * count + i];
    for (int k = 0; b < blocks; ++b, ++k) sum[k] += partial[long(b) * count + i];
    gradients[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
};

/// Warps of a block in a whole step: as many as fit, since all their samples share one set of sums.
template <class MmaAtom, class Segment, bool HasLoss = true>
inline constexpr int step_warps = StepLayout<MmaAtom, Segment, 8, HasLoss>::fits   ? 8
                                  : StepLayout<MmaAtom, Segment, 4, HasLoss>::fits ? 4
                                  : StepLayout<MmaAtom, Segment, 2, HasLoss>::fits ? 2
                                                                                   : 0;

/// Training of a narrow perceptron in one pass on matrix cores, or of one inside a network.
///
/// options  Device: as in SegmentKernels, and `multiprocessors(exec)` · L: a loss, or GivenGradient
template <class Device, class Segment, class L, class P> struct WholeStepKernels {
  static constexpr KernelTraits traits = {.takes_views = true, .rows = WorkspaceRows::of_kernels};
  using Op = typename StepOp<Segment, L>::type;
  using MmaAtom = typename Device::template MmaAtom<typename P::storage>;
  using Kernel =
      whole_step_tiles<MmaAtom, Segment, L, P, step_warps<MmaAtom, Segment, has_loss<L>>>;

  /// Rows of gradients in the workspace: one for each block that runs at a time.
  template <class Space> static int workspace_rows(Space const& exec) {
    constexpr long fit = MmaAtom::scratch_budget / Kernel::scratch_bytes;
    return Device::multiprocessors(exec) * int(fit < 4 ? fit : 4);
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work, ExternalTensor const& source) {
    constexpr int block = Kernel::samples_of_block;
    int blocks = (work.forward.batch + block - 1) / block;
    if (blocks > work.rows) blocks = work.rows;
    if (blocks > 0) blocks = Device::launch(exec, label, Kernel(work, source), blocks);
    portable::launch(
        exec, label, work.parameter_count,
        sum_blocks{work.partial, work.gradients + Kernel::Passes::Boundary::parameter_first(work),
                   work.parameter_count, blocks});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
