// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What nvcc must take for sm_90a, with PHYLLO_ENABLE_WGMMA: inference of narrow perceptrons that
// wait for products; those that wait for memory keep mma.sync.

#include <phyllo/phyllo.hpp>

#include <type_traits>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

// The networks of workloads mlp-infer and mlp-infer-64, and wide ones, in stages and not.
struct Mlp : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>,
                     ReLU, Linear<16>> {};
struct Mlp64
    : Network<Input<64>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>> {};
struct Wide : Network<Input<128>, Linear<128>, ReLU, Linear<128>, ReLU, Linear<128>, ReLU,
                      Linear<128>, ReLU, Linear<128>, ReLU, Linear<128>> {};
struct Deep : Network<Input<128>, Repeat<12, Linear<128>, ReLU>, Linear<128>> {};
struct Odd : Network<Input<5>, Linear<100>, GELU, Linear<33>, Sigmoid, Linear<3>> {};

template <class Net, class P> void infer(Space const& exec) {
  Model<Net, P> const model(exec, {.batch = 1024});
  Kokkos::View<typename P::storage**, Space> x("x", 1024, Net::input.size());
  Kokkos::View<typename P::storage**, Space> y("y", 1024, Net::output.size());
  model.infer(exec, x, y);
}

template <class Net, class S>
using UnitOf = typename gpu::SegmentUnit<
    phyllo::cuda::Device,
    StepSegment<Planned<Net, Phase::inference, Fusion::tile, int(sizeof(S))>, 0>, S>::type;
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
