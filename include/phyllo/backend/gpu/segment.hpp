// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/segment_forward.hpp>

#include <string>

namespace phyllo::gpu {

template <class P> inline constexpr bool is_16_bit = sizeof(typename P::storage) == 2;
template <class Segment> inline constexpr bool is_perceptron = false;
template <class... D>
inline constexpr bool is_perceptron<op::Segment<D...>> = (op::is_dense<D> && ...);

/// Inference of a narrow perceptron on matrix cores.
///
/// options  Device: a vendor's matrix instruction `Unit<Storage>`, and how its kernels are
/// launched,
///          `launch(exec, label, kernel, blocks)`
template <class Device, class Segment, class P> struct SegmentKernels {
  /// The caller's Views are read and written by the lanes that hold the values.
  static constexpr bool takes_views = true;
  using Kernel = segment_forward<typename Device::template Unit<typename P::storage>, Segment, P>;

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

}  // namespace phyllo::gpu
