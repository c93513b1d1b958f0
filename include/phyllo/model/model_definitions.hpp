// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/model/model.hpp>
#include <phyllo/model/placement.hpp>

#include <algorithm>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

inline std::vector<std::string> with_suffix(std::vector<std::string> names, char const* suffix) {
  for (auto& n : names) n += suffix;
  return names;
}

// What a backward pass calls when gradients are final, where no communication waits for them.
struct IgnoreFinished {
  void operator()(int) const {}
};

// The tail of the gradient arena when the loss is the caller's, who does not scale it: an update
// divides by the loss scale.
template <class Accumulate> struct SetTail {
  Accumulate* tail = nullptr;
  StepState const* state = nullptr;
  Accumulate weight = 1;
  bool weights_changed = false;
  KOKKOS_FUNCTION void operator()(int i) const {
    bool const is_change = weights_changed && i == op::Tail::changes;
    Accumulate const samples = weight / Accumulate(state->loss_scale);
    tail[i] = i == op::Tail::samples ? samples : Accumulate(is_change ? 1 : 0);
  }
};

}  // namespace detail

template <ComposedNetwork Net, Precision P, ExecutionChoice Exec>
Model<Net, P, Exec>::Model(space const& exec, ModelOptions const& options)
    : training_labels_(step_labels<Training>(name_)),
      backward_labels_(detail::with_suffix(training_labels_, "/backward")),
      order_(exec) {
  if (options.batch < 1)
    throw Error(name_ + ": the largest batch must be positive, got " +
                std::to_string(options.batch) + ".");
  allocate(exec, parameters_, "parameters", nodes.arena_size);
  if constexpr (P::has_master)
    allocate(exec, master_, "master parameters", nodes.arena_size);
  else
    master_ = parameters_;
  allocate(exec, buffers_, "buffers", nodes.buffer_size);
  inference_only_ = options.inference_only;
  if (!inference_only_) allocate_training(exec, options.batch);
  using State = Kokkos::View<StepState, memory_space>;
  state_ = phyllo::allocate<State>(name_ + "/state", 1, "Release what else is there.", exec);
  // Training and inference of one model use the same work memory, one after the other.
  constexpr long of_training = work_bytes<Training, P, Exec>();
  inference_ =
      Session(exec, name_, options.batch, parameters_, buffers_,
              std::max(inference_only_ ? 0 : of_training, work_bytes<Inference, P, Exec>()));
  arenas_.parameters = parameters_.data();
  arenas_.gradients = gradients_.data();
  arenas_.buffers = buffers_.data();
  arenas_.batch_state = batch_state_.data();
  arenas_.partial = partial_.data();
  arenas_.partial_count = long(partial_.extent(0));
  arenas_.activations = activations_.data();
  arenas_.state = state_.data();
  arenas_.capacity = options.batch;
  arenas_.memory = inference_.arenas_.memory;
  arenas_.samples = samples_.data();
  arenas_.matrices = matrices_.rows();
  StepState initial;
  initial.seed = options.seed;
  Kokkos::parallel_for(name_ + "/state", Kokkos::RangePolicy<space>(exec, 0, 1),
                       SetState{state_.data(), initial});
  seed_ = options.seed;
  initialize(exec);
  note_comparison();  // ranks that train together have agreed on the seed
}

template <ComposedNetwork Net, Precision P, ExecutionChoice Exec>
void Model<Net, P, Exec>::allocate_training(space const& exec, int batch) {
  allocate(exec, gradients_, "gradients", gradient_size);
  allocate(exec, buffers_before_, "buffers before a step", nodes.buffer_size);
  allocate(exec, batch_state_, "statistics", nodes.batch_state_size);
  allocate(exec, partial_, "workspace", partial_count<Training, P, Exec>(exec, batch));
  constexpr long sample_bytes = work_sample_bytes<Training, P, Exec>();
  if constexpr (sample_bytes > 0)
    allocate(exec, samples_, "workspace of segments",
             bytes_of((batch + 63L) / 64 * 64, sample_bytes),
             "Build the model with a smaller ModelOptions::batch.");
  allocate(exec, activations_, "activations", bytes_of(batch, Training::memory.bytes),
           "Build the model with a smaller ModelOptions::batch than " + std::to_string(batch) +
               "; explain() prints the bytes of a sample.");
}

template <ComposedNetwork Net, Precision P, ExecutionChoice Exec>
void Model<Net, P, Exec>::require_training(char const* who) const {
  require_memory();
  if (inference_only_)
    throw Error(name_ + ", " + who +
                ": expected a model with gradients, got one that was built with "
                "ModelOptions::inference_only. Build it without.");
}

template <ComposedNetwork Net, Precision P, ExecutionChoice Exec>
Model<Net, P, Exec> Model<Net, P, Exec>::clone(space const& exec) const {
  Model copy(exec, {.batch = capacity(), .seed = seed_, .inference_only = inference_only_});
  Kokkos::deep_copy(exec, copy.parameters_, parameters_);
  if constexpr (P::has_master) Kokkos::deep_copy(exec, copy.master_, master_);
  Kokkos::deep_copy(exec, copy.gradients_, gradients_);
  Kokkos::deep_copy(exec, copy.buffers_, buffers_);
  Kokkos::deep_copy(exec, copy.buffers_before_, buffers_before_);
  copy.weights_changed_ = weights_changed_;
  Kokkos::deep_copy(exec, copy.state_, state_);
  copy.matrices_ = matrices_;
  copy.arenas_.matrices = copy.matrices_.rows();
  copy.inference_.share_matrices(matrices_);
  return copy;
}

template <ComposedNetwork Net, Precision P, ExecutionChoice Exec>
void Model<Net, P, Exec>::check_batch(int batch) const {
  if (batch > capacity())
    throw Error(name_ + ": expected at most " + std::to_string(capacity()) +
                " samples, for which the model was built, got " + std::to_string(batch) +
                ". Build it with a larger ModelOptions::batch or pass smaller batches.");
  check_matrices(batch);
}

template <ComposedNetwork Net, Precision P, ExecutionChoice Exec>
template <class In, class Out, class C>
void Model<Net, P, Exec>::forward(space const& exec, In const& in, Out const& out,
                                  C&& communication) {
  BoundTensors const inputs = AllPorts::template bind_inputs<space>(in, name_);
  BoundTensors const outputs = AllPorts::template bind_outputs<space>(out, name_);
  require_training("forward");
  check_batch(inputs.batch);
  if (outputs.batch != inputs.batch)
    throw Error(name_ + ": expected outputs for " + std::to_string(inputs.batch) +
                " samples, got " + std::to_string(outputs.batch) + ".");
  begin_training_pass(exec, std::uint64_t(communication.exclusive_sum(inputs.batch)));
  auto pass = forward_pass<Phase::training>(exec, inputs.batch, communication);
  place_until_backward(pass, inputs, outputs);
  pass.run_all();
  for (int k = 0; k < AllPorts::outputs; ++k) {
    int const v = AllPorts::output_node(k);
    if (pass.placed.output[k] == nullptr)
      pass.store(pass.value(v), AllPorts::output_shape(k), outputs.tensor[k]);
  }
  last_batch_ = inputs.batch;
}

template <ComposedNetwork Net, Precision P, ExecutionChoice Exec>
template <class DOut, class C>
void Model<Net, P, Exec>::backward_bound(space const& exec, DOut const& d_out,
                                         BoundTensors const& d_in, bool inputs, accumulate weight,
                                         C& communication) {
  require_training("backward");
  if (last_batch_ < 0)
    throw Error(name_ +
                ": backward requires a forward after the last backward, step or change of the "
                "weights. Call forward, not infer.");
  BoundTensors const gradients = AllPorts::template bind_output_gradients<space>(d_out, name_);
  if (inputs && d_in.batch != last_batch_)
    throw Error(name_ + ", d_input: expected " + std::to_string(last_batch_) +
                " samples as in forward, got " + std::to_string(d_in.batch) + ".");
  if (gradients.batch != last_batch_)
    throw Error(name_ + ", d_output: expected " + std::to_string(last_batch_) +
                " samples as in forward, got " + std::to_string(gradients.batch) + ".");
  follow(exec);
  Kokkos::parallel_for(launch_label(tail_label_),
                       by_argument(Kokkos::RangePolicy<space>(exec, 0, tail_size)),
                       detail::SetTail<accumulate>{gradients_.data() + nodes.arena_size,
                                                   state_.data(), weight, weights_changed_});
  int const batch = last_batch_;
  forget_forward();  // gradients take the place of activations
  detail::IgnoreFinished ignore;
  auto pass = backward_pass(exec, batch, communication, inputs, ignore);
  place_gradients(pass, gradients, d_in);
  load_output_gradients<AllPorts>(pass, gradients);
  pass.run_all();
  if (inputs) store_input_gradients<AllPorts>(pass, d_in);
}

}  // namespace phyllo::inline PHYLLO_ISA
