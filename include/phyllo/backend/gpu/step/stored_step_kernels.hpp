// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/contraction.hpp>
#include <phyllo/backend/gpu/step/stored_step.hpp>
#include <phyllo/op/kernel_traits.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Training of a narrow perceptron on matrix cores where a block has no room for the values of its
/// samples: they are stored, and the gradients of parameters are products of their own, layer by
/// layer.
///
/// options  Device: as in WholeStepKernels
/// numerics sums do not depend on the device
template <class Device, class Segment, class L, class P> struct StoredStepKernels;
template <class Device, class... D, class L, class P>
struct StoredStepKernels<Device, op::Segment<D...>, L, P> {
  using Op = typename StepOp<op::Segment<D...>, L>::type;
  using Work = typename Op::template Run<P>;
  using Kernel = stored_step_tiles<typename Device::template MmaAtom<typename P::storage>,
                                   op::Segment<D...>, L, P>;
  using Products = ContractionKernels<Device, op::Chain<>, P>;
  static constexpr KernelTraits traits = {.takes_views = true,
                                          .rows = WorkspaceRows::of_kernels,
                                          .sample_bytes = Kernel::Layout::sample_bytes,
                                          .partial_count = Products::traits.partial_count};

  /// No block has sums of its own.
  template <class Space> static int workspace_rows(Space const&) { return 0; }

  template <class Space>
  static void run(Space const& exec, std::string const& label, Work const& work,
                  ExternalTensor const& source) {
    Kernel const kernel(work, source);
    constexpr int block = Kernel::samples_of_block;
    // One block at least: it also clears what is between parameters.
    Device::launch(exec, label, kernel,
                   work.forward.batch > block ? (work.forward.batch + block - 1) / block : 1);
    all_parameters(exec, label, work, kernel, std::make_index_sequence<sizeof...(D)>{});
  }

 private:
  template <class Space, std::size_t... I>
  static void all_parameters(Space const& exec, std::string const& label, Work const& work,
                             Kernel const& kernel, std::index_sequence<I...>) {
    (parameters<int(I)>(exec, label, work, kernel), ...);
  }
  template <int Layer, class Space>
  static void parameters(Space const& exec, std::string const& label, Work const& work,
                         Kernel const& kernel) {
    using Dense = typename Kernel::template Dense<Layer>;
    typename Products::Op::template BackwardParameters<P> product;
    product.batch = work.forward.batch;
    product.input = Shape{Dense::inputs};
    product.output = Shape{Dense::outputs};
    product.x = kernel.input(Layer);
    product.d_z = kernel.gradient(Layer);
    product.d_weight = work.gradients + work.forward.weight[Layer];
    if (Dense::bias) product.d_bias = work.gradients + work.forward.bias[Layer];
    product.partial = work.partial;
    Products::run(exec, label, product);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
