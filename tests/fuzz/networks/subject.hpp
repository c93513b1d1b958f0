// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "caller_views.hpp"
#include "softmax_rounding.hpp"

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace networks {

using Space = Kokkos::DefaultHostExecutionSpace;

/// A user's layer: x / (1 + x^2 / 4), with its derivative from the input.
struct Bump : phyllo::Pointwise {
  static constexpr char const* name = "bump";
  template <class T> PHYLLO_FUNCTION static T value(T x) { return x / (T(1) + T(0.25) * x * x); }
  template <class T> PHYLLO_FUNCTION static T derivative(T x) {
    T const q = T(1) + T(0.25) * x * x;
    return (T(1) - T(0.25) * x * x) / (q * q);
  }
};

/// How a network runs and what its caller gives.
///
/// options  P: precision · Exec: backends, fusion, determinism · Element, Label: of the caller's
///          Views · Flat: Views of rank two · At: where their elements are · Call: calls inside a
///          kernel · Loss, Rule: void where the network is not trained
template <class P, class Exec, class Element, class Label, bool Flat, Layout At, int Call,
          class Loss = void, class Rule = void>
struct Setting {
  using precision = P;
  using execution = Exec;
  using element = Element;
  using label = Label;
  using loss = Loss;
  using rule = Rule;
  static constexpr bool flat = Flat;
  static constexpr Layout layout = At;
  static constexpr int call = Call;
};
template <class P, class... First>
using ReferenceSetting =
    Setting<P,
            phyllo::Execution<Space, phyllo::Backends<First..., phyllo::ReferenceBackend>,
                              phyllo::FusionLevel::none>,
            double, int, true, Layout::right, 0>;

inline constexpr int no_call = 0, call_by_thread = 1, call_by_team = 2;

/// Optimizer options that no gradient of these networks overflows with.
inline phyllo::OptimizerOptions optimizer_options() {
  phyllo::OptimizerOptions options;
  options.scaling.initial = 64;
  return options;
}

/// Which nodes an output reads, directly or not.
inline std::vector<bool> read_by_outputs(std::vector<phyllo::Node> const& nodes,
                                         std::vector<int> const& outputs) {
  std::vector<bool> read(nodes.size());
  for (int o : outputs) read[std::size_t(o)] = true;
  for (std::size_t i = nodes.size(); i-- > 0;)
    for (int s = 0; read[i] && s < nodes[i].sources; ++s)
      if (nodes[i].source[s] >= 0) read[std::size_t(nodes[i].source[s])] = true;
  return read;
}

/// Whether an input is the mask of an attention, the third value that it reads.
inline bool is_mask(std::vector<phyllo::Node> const& nodes, int input) {
  for (phyllo::Node const& n : nodes)
    if (n.role == phyllo::Role::product && n.sources == 3 && n.source[2] == input) return true;
  return false;
}

/// Entries of the smallest table that reads an input, or how many lengths there are; two of a mask;
/// 1: none of them.
inline int smallest_table(std::vector<phyllo::Node> const& nodes, int input) {
  int least = 0;
  for (phyllo::Node const& n : nodes) {
    int entries = 0;
    if (n.role == phyllo::Role::lookup && n.source[0] == input)
      entries = n.parameter[0].count / n.output.channels;
    if (n.role == phyllo::Role::scan && n.source[n.sources - 1] == input)
      entries = n.input.positions() + 1;
    if (entries > 0) least = least == 0 ? entries : std::min(least, entries);
  }
  if (is_mask(nodes, input) && (least == 0 || least > 2)) least = 2;
  return std::max(least, 1);
}

template <class Net> std::vector<phyllo::Node> nodes_of() {
  auto const& p = Net::program::nodes;
  return {p.node, p.node + Net::program::size};
}

/// The name of a matrix of so many rows, each with itself, the next one and the third behind it. No
/// row has the sum zero: equal values would become nothing but rounding, which has no slope.
template <int Nodes> struct graph {
  static constexpr int nodes = Nodes;
};

/// Binds the matrices that layers of a network name.
template <class L, class M> void bind_matrix_of(M& model) {
  if constexpr (requires { L::matrix::nodes; }) {
    constexpr int nodes = L::matrix::nodes, steps[] = {0, 1, 3};
    constexpr double numbers[] = {0.5, 0.25, -0.5};
    Kokkos::View<int*, Kokkos::HostSpace> const row_map("row_map", nodes + 1);
    Kokkos::View<int*, Kokkos::HostSpace> const entries("entries", 3 * nodes);
    Kokkos::View<double*, Kokkos::HostSpace> const values("values", 3 * nodes);
    for (int i = 0; i < nodes; ++i) {
      for (int k = 0; k < 3; ++k) {
        entries(3 * i + k) = (i + steps[k]) % nodes;
        values(3 * i + k) = numbers[k] * (1 + i % 3);
      }
      row_map(i + 1) = 3 * (i + 1);
    }
    using Matrix = phyllo::SparseMatrix<typename M::accumulate, typename M::space>;
    model.template bind_matrix<typename L::matrix>(Matrix({}, row_map, entries, values));
  }
}
template <class M, class... L> void bind_matrices(M& model, phyllo::TypeList<L...>) {
  (bind_matrix_of<L>(model), ...);
}

/// A network with its memory, in one setting. InTags, OutTags: of its inputs and outputs; no tags:
/// one View without a name.
template <class Net, class InTags, class OutTags, class S> class Subject : public Machine {
  using P = typename S::precision;
  using Exec = typename S::execution;
  using AllPorts = phyllo::Ports<Net>;
  using Element = typename S::element;
  static constexpr bool is_trained = !std::is_void_v<typename S::loss>;
  static constexpr bool reads_numbers = [] {
    bool any = false;
    for (int k = 0; k < AllPorts::inputs; ++k) any = any || !AllPorts::takes_integers(k);
    return any;
  }();

  template <class Loss, class Rule> struct Holder {
    using type = phyllo::Trainer<Net, Loss, Rule, P, phyllo::Local, Exec>;
  };
  template <class Rule> struct Holder<void, Rule> {
    using type = phyllo::Model<Net, P, Exec>;
  };
  using Held = typename Holder<typename S::loss, typename S::rule>::type;

 public:
  template <class Rule>
  Subject(int capacity, unsigned seed, Rule const& rule)
      : held_(Space(), rule, {.batch = capacity, .seed = seed}, optimizer_options()) {
    describe();
  }
  Subject(int capacity, unsigned seed)
    requires(!is_trained)
      : held_(Space(), {.batch = capacity, .seed = seed}) {
    describe();
  }

  void set(Numbers const& parameters, Numbers const& buffers, std::uint64_t passes) override {
    exec_.fence();
    auto& m = model();
    using A = typename P::accumulate;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      m.master()(i) = A(parameters[i]);
      m.parameters()(i) = typename P::storage(A(parameters[i]));
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) m.buffers()(i) = float(buffers[i]);
    m.state()().forward = passes;
  }
  Numbers parameters() const override { return numbers(model().parameters()); }
  Numbers master() const override { return numbers(model().master()); }
  Numbers gradients() const override { return numbers(model().gradients()); }
  Numbers buffers() const override { return numbers(model().buffers()); }

  Tensors infer(Tensors const& x, int batch) override {
    Ports in(inputs, batch), out(outputs, batch);
    in.write(x);
    model().infer(exec_, in.template views<InTags, false, true>(),
                  out.template views<OutTags, true, false>());
    exec_.fence();
    return out.read();
  }
  Tensors infer_in_place(Tensors const& x, int batch) override {
    Ports in(inputs, batch), out(outputs, batch);
    if (!out.take_memory_of(in)) return {};
    in.write(x);
    model().infer(exec_, in.template views<InTags, false, true>(),
                  out.template views<OutTags, true, false>());
    exec_.fence();
    return out.read();
  }
  Tensors forward(Tensors const& x, int batch) override {
    Ports in(inputs, batch), out(outputs, batch);
    in.write(x);
    model().forward(exec_, in.template views<InTags, false, true>(),
                    out.template views<OutTags, true, false>());
    exec_.fence();
    return out.read();
  }
  Tensors backward(Tensors const& d_y, int batch) override {
    for (Tensor const& t : tensors)
      for (int i = t.first; i < t.first + t.count; ++i)
        model().gradients()(i) = std::numeric_limits<typename P::accumulate>::quiet_NaN();
    Ports d_in(inputs, batch), d_out(outputs, batch);
    d_out.write(d_y);
    auto const d_views = d_out.template views<OutTags, true, true>();
    if constexpr (reads_numbers)
      model().backward(exec_, d_views, d_in.input_gradients());
    else
      model().backward(exec_, d_views);
    exec_.fence();
    return d_in.read();
  }

  bool trains() const override { return is_trained; }
  Trained step(Tensors const& x, Tensors const& t, int batch) override {
    Trained trained;
    if constexpr (is_trained) {
      Ports in(inputs, batch);
      in.write(x);
      with_targets(t, batch, [&](auto const& targets) {
        held_.step(in.template views<InTags, false, true>(), targets);
        exec_.fence();
      });
      trained = {held_.loss(), model().state()().skipped > 0};
    }
    return trained;
  }
  Trained evaluate(Tensors const& x, Tensors const& t, int batch) override {
    Trained trained;
    if constexpr (is_trained) {
      Ports in(inputs, batch);
      in.write(x);
      with_targets(t, batch, [&](auto const& targets) {
        trained.loss = held_.evaluate(in.template views<InTags, false, true>(), targets).loss;
      });
    }
    return trained;
  }

  std::vector<Tensors> in_kernel(Tensors const& x, int batch) override {
    std::vector<Tensors> all;
    if constexpr (S::call != no_call) {
      auto const closure = model().in_kernel();
      Tensors y;
      for (Port const& port : outputs)
        y.emplace_back(std::size_t(batch) * std::size_t(port.size()));
      auto const in = std::make_index_sequence<AllPorts::inputs>{};
      auto const out = std::make_index_sequence<AllPorts::outputs>{};
      if constexpr (S::call == call_by_thread) {
        Kokkos::parallel_for("by thread", Kokkos::RangePolicy<Space>(exec_, 0, batch),
                             [&](int n) { by_thread(closure, x, y, n, in, out); });
      } else {
        using Policy = Kokkos::TeamPolicy<Space>;
        Policy policy(exec_, batch, Kokkos::AUTO);
        if (closure.scratch_bytes > policy.scratch_size_max(0)) return {};
        policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes));
        Kokkos::parallel_for("by team", policy, [&](typename Policy::member_type const& member) {
          by_team(member, closure, x, y, in, out);
        });
      }
      exec_.fence();
      all.push_back(std::move(y));
    }
    return all;
  }

  void save(std::string const& path) override { phyllo::save(exec_, model(), path); }
  void load(std::string const& path) override { phyllo::load(exec_, model(), path); }

  auto& held() { return held_; }
  Space const& exec() const { return exec_; }
  auto& model() {
    if constexpr (is_trained)
      return held_.model();
    else
      return held_;
  }
  auto const& model() const {
    if constexpr (is_trained)
      return held_.model();
    else
      return held_;
  }

 protected:
  using Ports = CallerViews<Net, InTags, S>;

  template <bool IsConst> static auto input_views(Ports& in) {
    return in.template views<InTags, false, IsConst>();
  }
  // The targets of all losses: class indices (N, S...) or values as the outputs.
  template <class Call> void with_targets(Tensors const& t, int batch, Call const& call) {
    if constexpr (OutTags::size == 0)
      with_target<0, typename S::loss>(t, batch, call);
    else
      with_named_targets(t, batch, call, phyllo::tensors(), typename S::loss{});
  }
  template <int K, class L, class Call>
  void with_target(Tensors const& t, int batch, Call const& call) {
    auto extents = outputs[std::size_t(K)].extents;
    constexpr int rank = AllPorts::output_shape(K).rank;
    if constexpr (L::classes) {
      extents.erase(extents.begin());
      Memory<typename S::label> memory(batch, extents, S::layout);
      memory.write(t[std::size_t(K)]);
      call(view_of<1 + rank, typename S::label const>(memory));
    } else {
      Memory<Element> memory(batch, extents, S::layout);
      memory.write(t[std::size_t(K)]);
      call(view_of<2 + rank, Element const>(memory));
    }
  }
  template <class Call, class Done, class First, class... More>
  void with_named_targets(Tensors const& t, int batch, Call const& call, Done const& done,
                          phyllo::Losses<First, More...>) {
    using Tag = typename First::tag;
    with_target<AllPorts::template output_of<Tag>(), typename First::loss>(
        t, batch, [&](auto const& view) {
          auto const all = with_last(done, phyllo::named<Tag>(view));
          if constexpr (sizeof...(More) == 0)
            call(all);
          else
            with_named_targets(t, batch, call, all, phyllo::Losses<More...>{});
        });
  }

 private:
  template <class Closure, std::size_t... I, std::size_t... O>
  void by_thread(Closure const& closure, Tensors const& x, Tensors& y, int n,
                 std::index_sequence<I...>, std::index_sequence<O...>) const {
    auto const result = closure(Row<double const>{sample(x[I], inputs[I], n)}...);
    if constexpr (sizeof...(O) == 1)
      copy(result, sample(y[0], outputs[0], n));
    else
      (copy(result.template get<phyllo::At<OutTags, int(O)>>(), sample(y[O], outputs[O], n)), ...);
  }
  template <class Member, class Closure, std::size_t... I, std::size_t... O>
  void by_team(Member const& member, Closure const& closure, Tensors const& x, Tensors& y,
               std::index_sequence<I...>, std::index_sequence<O...>) const {
    int const n = member.league_rank();
    closure(member, Row<double const>{sample(x[I], inputs[I], n)}...,
            Row<double>{sample(y[O], outputs[O], n)}...);
  }
  template <class V> static auto* sample(V& tensor, Port const& port, int n) {
    return tensor.data() + std::size_t(n) * std::size_t(port.size());
  }
  template <class Values> static void copy(Values const& from, double* to) {
    for (int i = 0; i < from.size(); ++i) to[i] = double(from[i]);
  }

  template <class V> static Numbers numbers(V const& view) {
    Numbers all(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) all[i] = double(view(i));
    return all;
  }

  void describe() {
    bind_matrices(model(), typename Net::program::leaves{});
    exec_.fence();
    auto const nodes = nodes_of<Net>();
    std::vector<int> ends;
    for (int k = 0; k < AllPorts::outputs; ++k) ends.push_back(AllPorts::output_node(k));
    auto const read = read_by_outputs(nodes, ends);
    for (int k = 0; k < AllPorts::inputs; ++k) {
      int const node = AllPorts::input_node(k);
      inputs.push_back({extents_of(AllPorts::input_shape(k)), read[std::size_t(node)],
                        AllPorts::takes_integers(k) ? smallest_table(nodes, node) : 0,
                        is_mask(nodes, node)});
    }
    for (int k = 0; k < AllPorts::outputs; ++k)
      outputs.push_back({extents_of(AllPorts::output_shape(k)), true});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      phyllo::Node const& n = nodes[i];
      if (n.parameter[0].offset >= 0)
        tensors.push_back({n.parameter[0].offset, n.parameter[0].count, !read[i]});
      if (n.parameter[1].offset >= 0)
        tensors.push_back({n.parameter[1].offset, n.parameter[1].count, !read[i]});
    }
  }

  Space exec_;
  Held held_;
};

template <class P, class Net, class In, class Out>
std::unique_ptr<Machine> make_reference(int capacity, unsigned seed) {
  return std::make_unique<Subject<Net, In, Out, ReferenceSetting<P>>>(capacity, seed);
}
/// The same in float, with what a rounding does that perturbed data need not show.
template <class Net, class In, class Out>
std::unique_ptr<Machine> make_in_float(int capacity, unsigned seed) {
  using S = ReferenceSetting<phyllo::Full<float>, SoftmaxRoundingBackend>;
  return std::make_unique<Subject<Net, In, Out, S>>(capacity, seed);
}

/// What a network became: its layers' roles and the kinds of its steps.
template <class Net, class S> Plan plan_of() {
  using P = typename S::precision;
  using Exec = typename S::execution;
  using Model = phyllo::Model<Net, P, Exec>;
  auto const steps = [](auto const& plan) {
    std::vector<int> kinds;
    for (int s = 0; s < plan.size; ++s) kinds.push_back(int(plan.step[s].kind));
    return kinds;
  };
  auto const& order = Model::Training::plan.order;
  Plan plan{{},
            steps(Model::Inference::plan),
            steps(Model::Training::plan),
            {order, order + Model::Training::plan.nodes},
            false};
  for (phyllo::Node const& n : nodes_of<Net>()) plan.roles.push_back(int(n.role));
  if constexpr (!std::is_void_v<typename S::loss>)
    plan.whole_step = phyllo::runs_whole_steps<Net, P, Exec>();
  return plan;
}

/// Where the tensors of the arenas are, with their names and extents in PyTorch.
template <class Net> std::vector<StoredTensor> stored_tensors() {
  std::vector<StoredTensor> all;
  for (phyllo::ParameterEntry const& e : phyllo::parameter_table<Net>())
    all.push_back({e.name,
                   {e.shape.begin(), e.shape.end()},
                   e.is_buffer,
                   e.offset,
                   e.taps,
                   e.channels,
                   e.outputs,
                   e.first});
  return all;
}

}  // namespace networks
