// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/step_state.hpp>
#include <phyllo/model/initialization.hpp>
#include <phyllo/model/orthogonal.hpp>
#include <phyllo/network/program.hpp>
#include <phyllo/op/loss.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// One tensor of weights (taps, C, C') by a scheme, its elements numbered as torch stores them,
/// (C', C, taps), so that the numbers do not depend on this library's layout.
template <class Scheme, class Storage, class Accumulate> struct InitializeWeights {
  Scheme scheme;
  WeightKey key;
  int taps = 1, channels = 1, outputs = 1;
  Storage* parameters = nullptr;
  Accumulate* master = nullptr;

  KOKKOS_FUNCTION void operator()(int i) const {
    int const o = i % outputs, c = i / outputs % channels, t = i / outputs / channels;
    WeightKey k = key;
    k.element += (std::uint64_t(o) * channels + c) * taps + t;
    auto const value = Accumulate(scheme.value(k));
    master[i] = value;
    parameters[i] = Storage(value);
  }
};

/// A constant into a run of parameters and of their master copy.
template <class Storage, class Accumulate> struct FillParameters {
  Accumulate value = 0;
  Storage* parameters = nullptr;
  Accumulate* master = nullptr;

  KOKKOS_FUNCTION void operator()(int i) const {
    master[i] = value;
    parameters[i] = Storage(value);
  }
};

struct FillBuffer {
  float value = 0;
  float* buffer = nullptr;
  KOKKOS_FUNCTION void operator()(int i) const { buffer[i] = value; }
};

/// Counts a training forward pass, stores which samples of the global batch it processes, and
/// copies the running statistics, which a skipped step restores. One work item: one buffer.
template <class Accumulate> struct BeginTrainingPass {
  StepState* state = nullptr;
  std::uint64_t first_sample = 0;
  float const* buffers = nullptr;
  float* buffers_before = nullptr;
  int buffer_size = 0;
  Accumulate* tail = nullptr;  // op::Tail
  bool weights_changed = false;
  KOKKOS_FUNCTION void operator()(int i) const {
    if (i < buffer_size) buffers_before[i] = buffers[i];
    if (i > 0) return;
    tail[op::Tail::changes] = Accumulate(weights_changed ? 1 : 0);
    ++state->forward;
    state->first_sample = first_sample;
  }
};

/// A state as the host wants it.
struct SetState {
  StepState* state = nullptr;
  StepState value;
  KOKKOS_FUNCTION void operator()(int) const { *state = value; }
};

/// Initial values of all parameters and buffers of a network.
template <class Net, class Space, class Scheme, class Parameters, class Master, class Buffers>
void launch_initialization(Space const& exec, std::string const& name, Scheme const& scheme,
                           std::uint64_t seed, Parameters const& parameters, Master const& master,
                           Buffers const& buffers) {
  using Storage = typename Parameters::value_type;
  using Accumulate = typename Master::value_type;
  using Range = Kokkos::RangePolicy<Space>;
  using Fill = FillParameters<Storage, Accumulate>;
  auto const fill = [&](int offset, int count, Accumulate value) {
    Kokkos::parallel_for(name + "/initialize", Range(exec, 0, count),
                         Fill{value, parameters.data() + offset, master.data() + offset});
  };
  fill(0, int(parameters.extent(0)), 0);
  // like: the tensor of the layer whose fans count; `first`: elements of it that are drawn before.
  auto const draw = [&](auto const& distribution, ParameterTensor const& t, std::uint32_t tensor,
                        ParameterTensor const& like, std::uint64_t first) {
    using Distribution = std::decay_t<decltype(distribution)>;
    WeightKey const key{seed, tensor, first, like.fan_in, like.fan_out};
    Kokkos::parallel_for(name + "/initialize", Range(exec, 0, t.count),
                         InitializeWeights<Distribution, Storage, Accumulate>{
                             distribution, key, t.taps, t.channels, t.outputs,
                             parameters.data() + t.offset, master.data() + t.offset});
  };
  std::uint32_t tensor = 0;
  for (Node const& n : Net::program::nodes.node) {
    std::uint64_t drawn = 0;  // elements of the node's tensors before
    for (ParameterTensor const& t : n.parameter) {
      if (t.count == 0) continue;
      if constexpr (requires { requires Scheme::by_tensor; }) {
        if (t.initial == Initial::scheme)
          draw_tensor(exec, name, scheme, WeightKey{seed, tensor, 0, t.fan_in, t.fan_out}, t,
                      parameters.data(), master.data());
      } else {
        if (t.initial == Initial::scheme) draw(scheme, t, tensor, t, 0);
      }
      if (t.initial == Initial::normal) draw(UnitNormal{}, t, tensor, t, 0);
      if (t.initial == Initial::uniform) draw(UniformByFan{}, t, tensor, t, drawn);
      drawn += std::uint64_t(t.count);
      if constexpr (requires { requires Scheme::draws_biases; }) {
        ParameterTensor const& weight = n.parameter[0];
        if (t.initial == Initial::zero && weight.initial == Initial::scheme)
          draw(scheme, t, tensor, weight, std::uint64_t(weight.count));
      }
      if (t.initial == Initial::one) fill(t.offset, t.count, 1);
      if (t.initial == Initial::constant) fill(t.offset, t.count, Accumulate(t.initial_value));
    }
    int at = n.buffer;
    for (BufferTensor const& t : n.buffer_tensor) {
      if (t.count == 0) continue;
      Kokkos::parallel_for(name + "/initialize", Range(exec, 0, t.count),
                           FillBuffer{t.initial, buffers.data() + at});
      at += t.count;
    }
    tensor += n.parameter_count() > 0;
  }
}

}  // namespace phyllo::inline PHYLLO_ISA
