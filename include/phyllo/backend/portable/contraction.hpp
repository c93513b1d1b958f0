// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/contraction_backward.hpp>
#include <phyllo/backend/portable/contraction_forward.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

template <class Chain, class P> struct Kernels<op::Contraction<Chain>, P> {
  using Op = op::Contraction<Chain>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    long const blocks = blocks_of(work.output.channels, block);
    launch(exec, label, long(work.batch) * work.output.positions() * blocks,
           contraction_forward<Chain, P>{work, int(blocks)});
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    long const blocks = blocks_of(work.input.channels, channel_block);
    launch(exec, label, long(work.batch) * work.input.positions() * blocks,
           contraction_backward_input<Chain, P>{work, int(blocks)});
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    long const outputs = blocks_of(work.output.channels, block);
    long const channels = blocks_of(work.input.channels, channel_block);
    launch(exec, label, work.window.taps() * outputs * channels,
           contraction_backward_weight<Chain, P>{work, int(outputs), int(channels)});
    if (work.d_bias != nullptr)
      launch(exec, label, outputs, contraction_backward_bias<Chain, P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
