// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/thread_memory.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/model/bound_matrices.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/model/forward.hpp>
#include <phyllo/model/network_plan.hpp>
#include <phyllo/model/placement.hpp>
#include <phyllo/model/refused_model.hpp>
#include <phyllo/model/sample_overlap.hpp>
#include <phyllo/model/work_bytes.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/policy/precision.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Inference for one caller, with activations and work memory of its own. It reads the live weights
/// of a model, as all its sessions do. Made by Model::inference_session; movable.
///
/// shape    as Model::infer
/// state    activations of the largest batch, work memory of the threads. The session keeps the
///          memory of the weights alive: it may outlive the model, and reads what training writes.
/// threads  one thread at a time calls a session. Sessions of one model run at the same time, each
///          on an instance of its own, while nothing writes the weights.
/// errors   run: wrong extents, no room in memory, outputs in memory of later inputs where the call
///          is split -> Error
/// cost     as Model::infer; the memory of its activations once more
template <class Net, Precision P, class Exec> class InferenceSession {
 public:
  using space = typename Exec::space;
  using storage = typename P::storage;
  using Plan = NetworkPlan<Net, Phase::inference, P, Exec>;
  using AllPorts = BoundPorts<Net>;
  template <class T>
  using Vector = Kokkos::View<T*, Kokkos::LayoutRight, typename space::memory_space>;

  InferenceSession(InferenceSession&&) = default;
  InferenceSession& operator=(InferenceSession&&) = default;
  InferenceSession(InferenceSession const&) = delete;  // make one by Model::inference_session
  InferenceSession& operator=(InferenceSession const&) = delete;

  /// Inference mode, any batch; asynchronous on the session's instance.
  template <class In, class Out> void infer(In const& in, Out const& out) { run(exec_, in, out); }

  /// The matrix of the layers that name `Tag`, in place of the one that the model had when the
  /// session was made.
  template <class Tag = adjacency>
  void bind_matrix(SparseMatrix<typename P::accumulate, space> const& matrix) {
    matrices_.template bind<Tag>(matrix);
  }

  space const& exec() const { return exec_; }
  /// Largest batch of one pass; larger ones are split.
  int capacity() const { return arenas_.capacity; }

 private:
  template <class, class, class> friend class Model;

  InferenceSession() = default;
  InferenceSession(space const& exec, std::string const& name, int batch,
                   Vector<storage> const& parameters, Vector<float> const& buffers,
                   long slice_bytes = work_bytes<Plan, P, Exec>())
      : exec_(exec),
        name_(name),
        labels_(step_labels<Plan>(name)),
        parameters_(parameters),
        buffers_(buffers) {
    activations_ = allocate<Vector<std::byte>>(name + "/activations of inference",
                                               bytes_of(batch, Plan::memory.bytes),
                                               "Use a smaller batch than " + std::to_string(batch) +
                                                   "; explain() lists the bytes of a sample.",
                                               exec);
    memory_ = ThreadMemory<space>(exec, name + "/work memory",
                                  std::max(exec.concurrency(), Exec::shards), slice_bytes);
    arenas_.parameters = parameters_.data();
    arenas_.buffers = buffers_.data();
    arenas_.activations = activations_.data();
    arenas_.memory = memory_.memory();
    arenas_.capacity = batch;
    arenas_.matrices = matrices_.rows();
  }

  void share_matrices(BoundMatrices<Net, typename P::accumulate, space> const& matrices) {
    matrices_ = matrices;
    arenas_.matrices = matrices_.rows();
  }
  template <class C> auto forward_pass(space const& exec, int batch, C& c) const {
    matrices_.check(batch, name_);
    return ForwardPass<Plan, P, Exec, C>{{exec, arenas_, labels_, c, batch}};
  }
  template <class In, class Out> void run(space const& exec, In const& in, Out const& out) const;
  // Whether the outputs of a sample are in memory of the inputs of a later one, or those of a later
  // one in memory of its inputs.
  static bool write_before_reading(BoundTensors const& in, BoundTensors const& out) {
    return meets_later<true>(in, out);
  }
  static bool write_behind_reading(BoundTensors const& in, BoundTensors const& out) {
    return meets_later<false>(in, out);
  }
  template <bool OutputFirst>
  static bool meets_later(BoundTensors const& in, BoundTensors const& out) {
    for (int k = 0; k < AllPorts::outputs; ++k)
      for (int i = 0; i < AllPorts::inputs; ++i) {
        ExternalTensor const &x = in.tensor[i], &y = out.tensor[k];
        Shape const of_x = AllPorts::input_shape(i), of_y = AllPorts::output_shape(k);
        if (OutputFirst ? meets_later_sample(y, of_y, x, of_x, in.batch)
                        : meets_later_sample(x, of_x, y, of_y, in.batch))
          return true;
      }
    return false;
  }

  space exec_;
  std::string name_;
  std::vector<std::string> labels_;
  Vector<storage> parameters_;
  Vector<float> buffers_;
  Vector<std::byte> activations_;
  ThreadMemory<space> memory_;
  BoundMatrices<Net, typename P::accumulate, space> matrices_;
  Arenas<P> arenas_;
};

template <class Net, Precision P, class Exec>
template <class In, class Out>
void InferenceSession<Net, P, Exec>::run(space const& exec, In const& in, Out const& out) const {
  BoundTensors const inputs = AllPorts::template bind_inputs<space>(in, name_);
  BoundTensors const outputs = AllPorts::template bind_outputs<space>(out, name_);
  if (outputs.batch != inputs.batch)
    throw Error(name_ + ": expected outputs for " + std::to_string(inputs.batch) +
                " samples, got " + std::to_string(outputs.batch) + ".");
  Local alone;
  matrices_.check(inputs.batch, name_);
  int const most = matrices_.most_samples(capacity(), inputs.batch, name_);
  bool const overwrites = write_before_reading(inputs, outputs);
  if (overwrites && most < inputs.batch)
    throw Error(name_ +
                ": the outputs of a sample are in memory of the inputs of a later one, which "
                "a pass over " +
                std::to_string(most) + " of the " + std::to_string(inputs.batch) +
                " samples would overwrite. Give the outputs memory of their own, or set "
                "ModelOptions::batch to the samples of a call.");
  // Threads that write outputs while others read inputs share no memory of samples.
  [[maybe_unused]] bool const to_caller = !overwrites && !write_behind_reading(inputs, outputs);
  for (long first = 0; first < inputs.batch; first += most) {
    int const count = int(std::min<long>(most, inputs.batch - first));
    auto pass = forward_pass(exec, count, alone);
    bool const all = count == inputs.batch;
    BoundTensors const& x = all ? inputs : inputs.from_sample(first, count);
    BoundTensors const& y = all ? outputs : outputs.from_sample(first, count);
    take_inputs(pass, x);
    copy_given_outputs(pass, x, y);
    constexpr bool takes_target = decltype(pass)::takes_target;
    if constexpr (takes_target)
      pass.target = to_caller ? y.tensor[0] : ExternalTensor();
    else
      place_outputs(pass, x, y);
    pass.run_all();
    if (takes_target && to_caller) continue;
    for (int k = 0; k < AllPorts::outputs; ++k) {
      int const v = AllPorts::output_node(k);
      if (pass.placed.output[k] == nullptr)
        pass.store(pass.value(v), AllPorts::output_shape(k), y.tensor[k]);
    }
  }
}

}  // namespace phyllo::inline PHYLLO_ISA
