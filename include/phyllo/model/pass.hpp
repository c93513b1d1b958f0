// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/fusion/planned.hpp>
#include <phyllo/model/arenas.hpp>
#include <phyllo/model/bind.hpp>
#include <phyllo/model/execution.hpp>
#include <phyllo/model/load_integers.hpp>
#include <phyllo/network/matrices.hpp>
#include <phyllo/network/ports.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/transfer.hpp>

#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Names of a plan's kernels for profilers: "LeNet/0:conv2d+relu".
template <class Planned> std::vector<std::string> step_labels(std::string const& network);

/// What the passes over a plan share: where values live, and how an op is launched.
template <class Planned, class Precision, class Exec, class Communication> struct Pass {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using space = typename Exec::space;
  using plan = Planned;
  using precision = Precision;
  using Labels = std::vector<std::string>;
  static constexpr int shards = Exec::shards;

  using AllPorts = Ports<typename Planned::network>;

  /// The caller's Views that kernels read and write as they are, in place of slots.
  struct Placed {
    ExternalTensor source = {};  // of the only input, for a first segment that reads any View
    storage* input[AllPorts::inputs] = {};
    storage* output[AllPorts::outputs] = {};
    storage* d_input[AllPorts::inputs] = {};
    storage const* d_output[AllPorts::outputs] = {};
  };

  space const& exec;
  Arenas<Precision> const& arenas;
  Labels const& labels;
  Communication& communication;
  int batch;
  Placed placed = {};
  bool backwards = false;  // the backward pass, or layers that run forward again in it

  template <class Op> using Kernels = SelectedKernels<Op, Precision, typename Exec::backends>;

  template <class Op, class Work> void run(int step, Work const& work) const {
    Kernels<Op>::run(exec, labels[std::size_t(step)], work);
  }

  storage* value(int v) const {
    for (int k = 0; k < AllPorts::inputs; ++k)
      if (placed.input[k] != nullptr && ports_.input[k] == v) return placed.input[k];
    for (int k = 0; k < AllPorts::outputs; ++k)
      if (placed.output[k] != nullptr && ports_.output[k] == v) return placed.output[k];
    int const slot = backwards ? Planned::memory.value_again[v] : Planned::memory.value[v];
    return arenas.at(Planned::memory.slot[slot].offset);
  }
  storage* gradient(int v) const {
    for (int k = 0; k < AllPorts::inputs; ++k)
      if (placed.d_input[k] != nullptr && ports_.input[k] == v) return placed.d_input[k];
    return arenas.at(Planned::memory.slot[Planned::memory.gradient[v]].offset);
  }
  /// The caller's View with the gradient of v; nullptr: it is in its slot.
  storage const* given_gradient(int v) const {
    for (int k = 0; k < AllPorts::outputs; ++k)
      if (placed.d_output[k] != nullptr && ports_.output[k] == v) return placed.d_output[k];
    return nullptr;
  }
  storage* saved(int s) const {
    if (!Planned::liveness.saves(s)) return nullptr;
    int const slot = backwards ? Planned::memory.saved_again[s] : Planned::memory.saved[s];
    return arenas.at(Planned::memory.slot[slot].offset);
  }
  /// Number `k` of what the head of step s keeps beside values.
  template <class T> T* kept(int s, int k) const {
    int const slot = backwards ? Planned::memory.kept_again[s][k] : Planned::memory.kept[s][k];
    return arenas.template at_as<T>(Planned::memory.slot[slot].offset);
  }
  storage const* parameter(ParameterTensor const& t) const {
    return t.offset < 0 ? nullptr : arenas.parameters + t.offset;
  }
  accumulate* parameter_gradient(ParameterTensor const& t) const {
    return t.offset < 0 ? nullptr : arenas.gradients + t.offset;
  }
  /// The caller's sparse matrix of step S.
  template <int S> SparseRows<accumulate> const& matrix() const {
    return arenas.matrices[2 * matrix_of<S>];
  }
  template <int S> SparseRows<accumulate> const& transposed_matrix() const {
    return arenas.matrices[2 * matrix_of<S> + 1];
  }
  accumulate* batch_state(Node const& n) const { return arenas.batch_state + n.batch_state; }
  // Random masks are keyed by the place in the order, which every plan of a network shares.
  template <int S> Randomness randomness() const {
    return {Planned::phase == Phase::training ? arenas.state : nullptr,
            Planned::liveness.chain_first(Planned::step(S)), Planned::head(S).output.channels};
  }

  /// Whether kernels can read or write a caller's tensor of node v, of shape s, in place of its
  /// slot.
  bool fits_slot(ExternalTensor const& t, int v, Shape const& s) const {
    auto const at = reinterpret_cast<std::uintptr_t>(t.data[0]);
    return Planned::node(v).type == ValueType::storage &&
           t.type == detail::element_type_of<storage>() && at % slot_alignment == 0 &&
           has_slot_strides(t, s, batch);
  }
  /// Input number k: the caller's View itself where it fits, which has to stay as it is until the
  /// last kernel has read it; else a copy in its slot.
  void take_input(ExternalTensor const& source, int k) {
    int const v = ports_.input[k];
    if (fits_slot(source, v, Planned::node(v).output))
      placed.input[k] = static_cast<storage*>(source.data[0]);
    else
      load(source, v);
  }

  /// A value of integers.
  std::int32_t* integers(int v) const {
    return arenas.template at_as<std::int32_t>(
        Planned::memory.slot[Planned::memory.value[v]].offset);
  }

  /// The caller's tensor into the value of input node v.
  void load(ExternalTensor const& source, int v) const {
    if (Planned::node(v).type == ValueType::integer) return load_integers(source, v);
    using Work = op::Transfer::Load<Precision>;
    Kernels<op::Transfer>::run(exec, labels.back(),
                               Work{batch, Planned::node(v).output, source, value(v)});
  }
  void load_integers(ExternalTensor const& source, int v) const {
    Shape const shape = Planned::node(v).output;
    using Range = Kokkos::RangePolicy<space, Kokkos::IndexType<long>>;
    Kokkos::parallel_for(launch_label(labels.back()),
                         by_argument(Range(exec, 0, long(batch) * shape.size())),
                         LoadIntegers{shape, source, integers(v)});
  }
  /// A slot (value or gradient) of shape s into the caller's tensor.
  void store(storage const* slot, Shape const& s, ExternalTensor const& target) const {
    using Work = op::Transfer::Store<Precision>;
    Kernels<op::Transfer>::run(exec, labels.back(), Work{batch, s, slot, target});
  }
  /// The caller's gradient of an output of shape s into the gradient slot of its value v.
  void load_gradient(ExternalTensor const& source, int v, Shape const& s) const {
    using Work = op::Transfer::Load<Precision>;
    Kernels<op::Transfer>::run(exec, labels.back(), Work{batch, s, source, gradient(v)});
  }

 private:
  template <int S>
  static constexpr int matrix_of =
      Matrices<typename Planned::network>::table.of_leaf[Planned::plan.head(Planned::step(S))];

  struct PortNodes {
    int input[AllPorts::inputs] = {};
    int output[AllPorts::outputs] = {};
  };
  static constexpr PortNodes ports_ = [] {
    PortNodes nodes;
    for (int k = 0; k < AllPorts::inputs; ++k) nodes.input[k] = AllPorts::input_node(k);
    for (int k = 0; k < AllPorts::outputs; ++k) nodes.output[k] = AllPorts::output_node(k);
    return nodes;
  }();
};

namespace detail {

template <class Planned, int S, std::size_t... K> std::string step_name(std::index_sequence<K...>) {
  std::string name;
  ((name += (name.empty() ? "" : "+"),
    name += At<typename Planned::leaves, Planned::plan.order[Planned::step(S).first + K]>::name),
   ...);
  return name;
}

}  // namespace detail

template <class Planned> std::vector<std::string> step_labels(std::string const& network) {
  std::vector<std::string> labels;
  [&]<std::size_t... S>(std::index_sequence<S...>) {
    (labels.push_back(network + "/" + std::to_string(S) + ":" +
                      detail::step_name<Planned, int(S)>(
                          std::make_index_sequence<Planned::step(int(S)).count>{})),
     ...);
  }(std::make_index_sequence<Planned::plan.size>{});
  labels.push_back(network + "/transfer");
  return labels;
}

}  // namespace phyllo::inline PHYLLO_ISA
