// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/model/pass.hpp>

#include <Kokkos_Core.hpp>

#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// Adds the caller's gradient of an output to a slot that already contains the gradient of another
/// output of the same value. Per element, because this is rare.
///
/// shape    external (N, C, D, H, W) -> slot (N, S, C)
template <class Precision> struct AddToSlot {
  using accumulate = typename Precision::accumulate;
  using storage = typename Precision::storage;
  Shape shape;
  ExternalTensor source;
  storage* slot = nullptr;

  KOKKOS_FUNCTION void operator()(long at) const {
    int const c = int(at % shape.channels);
    int const p = int(at / shape.channels % shape.positions());
    int const h = shape.spatial[1], w = shape.spatial[2];
    accumulate const x =
        source.template read<accumulate>(at / shape.size(), c, p / (h * w), p / w % h, p % w);
    slot[at] = storage(accumulate(slot[at]) + x);
  }
};

/// Zero into the caller's gradient of an input that no output depends on.
template <class Accumulate> struct ZeroTensor {
  Shape shape;
  ExternalTensor target;

  KOKKOS_FUNCTION void operator()(long at) const {
    int const c = int(at % shape.channels);
    int const p = int(at / shape.channels % shape.positions());
    int const h = shape.spatial[1], w = shape.spatial[2];
    target.write(at / shape.size(), c, p / (h * w), p / w % h, p % w, Accumulate(0));
  }
};

/// Zero into the gradients of parameters that no output depends on, and of values that begin as it.
template <class T> struct ZeroGradients {
  T* gradient = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const { gradient[i] = T(0.0f); }
};

namespace detail {

template <class Pass, class Functor>
void launch_port(Pass const& pass, long count, Functor const& functor) {
  using Range = Kokkos::RangePolicy<typename Pass::space, Kokkos::IndexType<long>>;
  Kokkos::parallel_for(launch_label(pass.labels.back()), by_argument(Range(pass.exec, 0, count)),
                       functor);
}

// Whether an output before number K is the same value.
template <class AllPorts, int K> constexpr bool shares_gradient() {
  for (int k = 0; k < K; ++k)
    if (AllPorts::output_node(k) == AllPorts::output_node(K)) return true;
  return false;
}

template <class AllPorts, int K, class Pass>
void load_output_gradient(Pass const& pass, ExternalTensor const& tensor) {
  constexpr int v = AllPorts::output_node(K);
  constexpr Shape shape = AllPorts::output_shape(K);
  if (pass.placed.d_output[K] != nullptr) return;
  if constexpr (shares_gradient<AllPorts, K>()) {
    launch_port(pass, long(pass.batch) * shape.size(),
                AddToSlot<typename Pass::precision>{shape, tensor, pass.gradient(v)});
  } else {
    pass.load_gradient(tensor, v, shape);
  }
}

template <class AllPorts, int K, class Pass>
void store_input_gradient(Pass const& pass, ExternalTensor const& tensor) {
  constexpr int v = AllPorts::input_node(K);
  if (tensor.is_null() || pass.placed.d_input[K] != nullptr) return;
  if constexpr (Pass::plan::liveness.has_gradient[v]) {
    pass.store(pass.gradient(v), Pass::plan::node(v).output, tensor);
  } else {
    Shape const shape = Pass::plan::node(v).output;
    launch_port(pass, long(pass.batch) * shape.size(),
                ZeroTensor<typename Pass::accumulate>{shape, tensor});
  }
}

}  // namespace detail

/// The caller's gradients of the outputs into the slots of their values, unless kernels read them
/// as they are. Outputs of one value share a slot, which contains the sum of their gradients.
template <class AllPorts, class Pass>
void load_output_gradients(Pass const& pass, BoundTensors const& gradients) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (detail::load_output_gradient<AllPorts, int(K)>(pass, gradients.tensor[K]), ...);
  }(std::make_index_sequence<std::size_t(AllPorts::outputs)>{});
}

/// The gradients of the inputs into the caller's Views, as far as there are Views and no kernel
/// wrote them.
template <class AllPorts, class Pass>
void store_input_gradients(Pass const& pass, BoundTensors const& gradients) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (detail::store_input_gradient<AllPorts, int(K)>(pass, gradients.tensor[K]), ...);
  }(std::make_index_sequence<std::size_t(AllPorts::inputs)>{});
}

}  // namespace phyllo::inline PHYLLO_ISA
