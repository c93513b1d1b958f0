// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: products of wide layers on matrix cores, forward and backward.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

// The network of workload wide-mlp-train, and one whose extents are no multiple of anything.
struct WideMlp : Network<Input<1024>, Linear<1024>, ReLU, Linear<1024>, ReLU, Linear<1024>, ReLU,
                         Linear<1024>> {};
struct OddWide : Network<Input<300>, Linear<333>, Dropout<0.1>, Linear<7>> {};

template <class Net, class P> void train_wide(Kokkos::View<float**, Space> const& values) {
  Space const exec;
  Trainer<Net, MeanSquaredError, Sgd, P> trainer(exec, Sgd{.rate = 0.1f}, {.batch = 4096});
  Kokkos::View<typename P::storage**, Space> inputs("inputs", 4096, Net::input.size());
  trainer.step(inputs, values);
}

void gpu_wide(Kokkos::View<float**, Space> const& values) {
  train_wide<WideMlp, Mixed<bf16, float>>(values);
  PHYLLO_IN_VERIFY(train_wide<WideMlp, Full<float>>(values);)
  train_wide<OddWide, Mixed<fp16, float>>(values);
}

}  // namespace phyllo_gpu
