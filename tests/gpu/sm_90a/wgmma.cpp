// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What nvcc must take for sm_90a, with PHYLLO_ENABLE_WGMMA: inference of narrow perceptrons that
// wait for products; those that wait for memory keep mma.sync.

#include <gpu/segment_networks.hpp>
#include <phyllo/phyllo.hpp>

#include <type_traits>

namespace phyllo_gpu {

// Equal layers in several stages.
struct Deep : Network<Input<128>, Repeat<12, Linear<128>, ReLU>, Linear<128>> {};

template <class Net, class S>
using UnitOf = typename gpu::SegmentAtom<
    phyllo::cuda::Device,
    StepSegment<Planned<Net, Phase::inference, FusionLevel::tile, int(sizeof(S))>, 0>, S>::type;
static_assert(std::is_same_v<UnitOf<Mlp, bf16>, phyllo::cuda::Wgmma<bf16>>);
static_assert(std::is_same_v<UnitOf<Wide, fp16>, phyllo::cuda::Wgmma<fp16>>);
static_assert(std::is_same_v<UnitOf<Mlp64, bf16>, phyllo::cuda::Mma<bf16>>);
static_assert(std::is_same_v<UnitOf<Mlp, float>, phyllo::cuda::Mma<float>>);

void gpu_wgmma(Space const& exec) {
  infer<Mlp, Mixed<bf16, float>>(exec);
  infer<Mlp, Mixed<fp16, float>>(exec);
  infer<Wide, Mixed<bf16, float>>(exec);
  infer<Deep, Mixed<fp16, float>>(exec);
  infer<Odd, Mixed<bf16, float>>(exec);
}

}  // namespace phyllo_gpu
