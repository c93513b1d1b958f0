// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: inference of narrow perceptrons on matrix cores, resident and in
// stages, of equal and of mixed widths.

#include <gpu/segment_networks.hpp>
#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

// The network of workload cell-surrogate.
struct Surrogate : Network<Input<24>, Linear<32>, Tanh, Linear<32>, Tanh, Linear<8>> {};

void gpu_segment(Space const& exec) {
  infer<Mlp, Mixed<bf16, float>>(exec);
  PHYLLO_IN_VERIFY(infer<Mlp, Mixed<fp16, float>>(exec);)
  infer<Mlp, Full<float>>(exec);
  PHYLLO_IN_VERIFY(infer<Mlp64, Mixed<bf16, float>>(exec);)
  PHYLLO_IN_VERIFY(infer<Surrogate, Mixed<bf16, float>>(exec);)
  infer<Wide, Mixed<bf16, float>>(exec);
  PHYLLO_IN_VERIFY(infer<Wide, Full<float>>(exec);)
  infer<Odd, Mixed<fp16, float>>(exec);
}

}  // namespace phyllo_gpu
