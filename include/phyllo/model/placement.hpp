// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/bind.hpp>
#include <phyllo/model/bound_ports.hpp>

namespace phyllo::inline PHYLLO_ISA {

// Which of the caller's Views kernels read and write as they are, in place of slots of the arena.

/// The caller's inputs, where kernels read them as they are, or copies of them. They have to stay
/// as they are until the last kernel of the step has read them.
template <class Pass> void take_inputs(Pass& pass, BoundTensors const& in) {
  if constexpr (Pass::takes_source)
    pass.placed.source = in.tensor[0];
  else
    for (int k = 0; k < Pass::AllPorts::inputs; ++k) pass.take_input(in.tensor[k], k);
}

/// Copies of inputs that are outputs as well and share memory with an output: storing one output
/// would change what the next one is stored from.
template <class Pass>
void copy_given_outputs(Pass& pass, BoundTensors const& in, BoundTensors const& out) {
  using AllPorts = typename Pass::AllPorts;
  for (int i = 0; i < AllPorts::inputs; ++i) {
    int const v = AllPorts::input_node(i);
    if (pass.placed.input[i] == nullptr || !Pass::plan::liveness.is_output(v)) continue;
    bool shared = false;
    for (int k = 0; k < AllPorts::outputs; ++k)
      shared = shared || may_overlap(in.tensor[i], AllPorts::input_shape(i), out.tensor[k],
                                     AllPorts::output_shape(k), pass.batch);
    if (!shared) continue;
    pass.placed.input[i] = nullptr;
    pass.load(in.tensor[i], v);
  }
}

/// Whether the View of output k shares no memory with another one of the call.
template <class AllPorts>
bool is_apart(BoundTensors const& in, BoundTensors const& out, int k, int batch) {
  ExternalTensor const& own = out.tensor[k];
  Shape const shape = AllPorts::output_shape(k);
  for (int i = 0; i < AllPorts::inputs; ++i)
    if (may_overlap(own, shape, in.tensor[i], AllPorts::input_shape(i), batch)) return false;
  // A constant condition: without it GCC 16 warns of a subscript that a single output never has.
  if constexpr (AllPorts::outputs > 1)
    for (int i = 0; i < AllPorts::outputs; ++i)
      if (i != k && (AllPorts::output_node(i) == AllPorts::output_node(k) ||
                     may_overlap(own, shape, out.tensor[i], AllPorts::output_shape(i), batch)))
        return false;
  return true;
}

/// Outputs that the kernels write as they are, without a copy behind them: where a View is stored
/// as a slot and shares no memory with another one of the call.
template <class Pass>
void place_outputs(Pass& pass, BoundTensors const& in, BoundTensors const& out) {
  using AllPorts = typename Pass::AllPorts;
  for (int k = 0; k < AllPorts::outputs; ++k) {
    int const v = AllPorts::output_node(k);
    if (pass.batch > 0 && !is_given(Pass::plan::node(v)) &&
        pass.fits_slot(out.tensor[k], v, AllPorts::output_shape(k)) &&
        is_apart<AllPorts>(in, out, k, pass.batch))
      pass.placed.output[k] = static_cast<typename Pass::storage*>(out.tensor[k].data[0]);
  }
}

/// The same of a forward pass whose backward pass is a call of its own: the caller may write to
/// the Views between them, so what that pass reads again is in slots.
template <class Pass>
void place_until_backward(Pass& pass, BoundTensors const& in, BoundTensors const& out) {
  using AllPorts = typename Pass::AllPorts;
  auto const& liveness = Pass::plan::liveness;
  place_outputs(pass, in, out);
  for (int k = 0; k < AllPorts::outputs; ++k)
    if (liveness.last_backward_use(AllPorts::output_node(k)) > 0) pass.placed.output[k] = nullptr;
  for (int k = 0; k < AllPorts::inputs; ++k) {
    int const v = AllPorts::input_node(k);
    if (liveness.last_backward_use(v) > 0 || liveness.is_output(v))
      pass.load(in.tensor[k], v);
    else
      pass.take_input(in.tensor[k], k);
  }
}

/// Gradients of inputs that the kernels write as they are, and gradients of outputs that they read:
/// where nothing else adds to these, and a View shares no memory with what the pass writes.
template <class Pass>
void place_gradients(Pass& pass, BoundTensors const& d_out, BoundTensors const& d_in) {
  using AllPorts = typename Pass::AllPorts;
  auto const& liveness = Pass::plan::liveness;
  auto const overlaps = [&](ExternalTensor const& t, Shape const& shape, int but) {
    for (int i = 0; i < AllPorts::inputs; ++i)
      if (i != but && !d_in.tensor[i].is_null() &&
          may_overlap(t, shape, d_in.tensor[i], AllPorts::input_shape(i), pass.batch))
        return true;
    return false;
  };
  if (pass.batch == 0) return;
  for (int k = 0; k < AllPorts::inputs; ++k) {
    ExternalTensor const& t = d_in.tensor[k];
    int const v = AllPorts::input_node(k);
    if (!t.is_null() && liveness.has_gradient[v] && !liveness.is_output(v) &&
        !liveness.overwrites(v) && pass.fits_slot(t, v, Pass::plan::node(v).output) &&
        !overlaps(t, AllPorts::input_shape(k), k))
      pass.placed.d_input[k] = static_cast<typename Pass::storage*>(t.data[0]);
  }
  for (int k = 0; k < AllPorts::outputs; ++k) {
    ExternalTensor const& t = d_out.tensor[k];
    int const v = AllPorts::output_node(k);
    if (liveness.is_given_whole(v) && pass.fits_slot(t, v, AllPorts::output_shape(k)) &&
        !overlaps(t, AllPorts::output_shape(k), -1))
      pass.placed.d_output[k] = static_cast<typename Pass::storage const*>(t.data[0]);
  }
}

}  // namespace phyllo::inline PHYLLO_ISA
