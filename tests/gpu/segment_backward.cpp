// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: the backward pass of segments inside networks on matrix cores,
// with values that stay on chip or are stored where there is no room.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

template <int In, int Out, class... F> using Dense = op::Dense<In, Out, true, op::Chain<F...>>;

// Stays on chip on every device; only on NVIDIA's; is stored, its weights in several stages.
using Narrow = op::Segment<Dense<24, 32, Tanh>, Dense<32, 32, GELU>, Dense<32, 8, Dropout<0.1>>>;
using Mlp = op::Segment<Dense<16, 64, ReLU>, Dense<64, 64, ReLU>, Dense<64, 64, ReLU>,
                        Dense<64, 64, ReLU>, Dense<64, 16>>;
using Wide =
    op::Segment<Dense<24, 128, GELU>, Dense<128, 128, ReLU>, Dense<128, 128, ReLU>, Dense<128, 8>>;
using Odd = op::Segment<Dense<30, 96, Tanh>, Dense<96, 90, Tanh>, Dense<90, 3>>;

template <class Segment, class P> void backward(Space const& exec) {
  using Op = op::SegmentBackward<Segment>;
  using Kernels = SelectedKernels<Op, P, typename DefaultBackends<Space>::type>;
  typename Op::template Run<P> work;
  work.rows = Kernels::workspace_rows(exec);
  Kernels::run(exec, "backward", work, ExternalTensor{});
}

void gpu_segment_backward(Space const& exec) {
  PHYLLO_IN_VERIFY(backward<Narrow, Mixed<fp16, float>>(exec);)
  PHYLLO_IN_VERIFY(backward<Narrow, Full<float>>(exec);)
  backward<Mlp, Mixed<bf16, float>>(exec);
  backward<Wide, Mixed<bf16, float>>(exec);
  PHYLLO_IN_VERIFY(backward<Odd, Full<float>>(exec);)
}

}  // namespace phyllo_gpu
