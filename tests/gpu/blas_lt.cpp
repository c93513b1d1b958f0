// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take where the vendor's library of matrix products is installed: wide
// layers by it, and what it leaves to others.

#if defined(__CUDACC__) && __has_include(<cublasLt.h>)
#define PHYLLO_ENABLE_CUBLASLT
#elif defined(__HIPCC__) && __has_include(<hipblaslt/hipblaslt.h>)
#define PHYLLO_ENABLE_HIPBLASLT
#endif
#include <phyllo/phyllo.hpp>

#include <rings.hpp>

#include <string_view>
#include <type_traits>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

struct WideByLibrary
    : Network<Input<1024>, Linear<1024>, ReLU, Linear<1024>, GELU, Linear<1024, Bias<false>>> {};

template <class P> void train_by_library(Kokkos::View<float**, Space> const& values) {
  Space const exec;
  Trainer<WideByLibrary, MeanSquaredError, Sgd, P> trainer(exec, Sgd{.rate = 0.1f},
                                                           {.batch = 4096});
  Kokkos::View<typename P::storage**, Space> inputs("inputs", 4096, 1024);
  trainer.step(inputs, values);
  trainer.capture(inputs, values).replay();
}

#if defined(PHYLLO_HAS_CUBLASLT_BACKEND) || defined(PHYLLO_HAS_HIPBLASLT_BACKEND)
using Selected = SelectedBackend<op::Contraction<op::Chain<>>, Mixed<bf16, float>,
                                 typename DefaultBackends<Space>::type>;
static_assert(std::string_view(Selected::name).ends_with("blaslt"));
static_assert(std::is_same_v<ReproducibleBackends<typename DefaultBackends<Space>::type>,
#if defined(PHYLLO_HAS_CUBLASLT_BACKEND)
                             Backends<CudaBackend, PortableBackend>
#else
                             Backends<HipBackend, PortableBackend>
#endif
                             >);

void gpu_by_library(Kokkos::View<float**, Space> const& values) {
  train_by_library<Mixed<bf16, float>>(values);
  PHYLLO_IN_VERIFY(train_by_library<Mixed<fp16, float>>(values);)
}
#endif

}  // namespace phyllo_gpu
