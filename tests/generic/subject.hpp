// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/phyllo.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace phyllo::test {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Indices = Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Kernels of the first backend of a list that has some for an op; else an incomplete type.
template <class Op, class P, class List> struct KernelsOf;
template <class Op, class P, class... B> struct KernelsOf<Op, P, Backends<B...>> {
  template <bool, class O> struct Pick {
    struct type;
  };
  template <class O> struct Pick<true, O> {
    using type = SelectedKernels<O, P, Backends<B...>>;
  };
  static constexpr bool any = (detail::HasKernel<typename B::template kernels<Op, P>> || ...);
  using type = typename Pick<any, Op>::type;
};

/// The backends that a model on this space has unless its user says otherwise.
struct DefaultBackend {
  static constexpr char const* name = "default";
  template <class P>
  static constexpr SegmentLimits segment_limits_in =
      SelectedLimits<P, typename DefaultBackends<Space>::type>::value;
  template <class Op, class P>
  using kernels = typename KernelsOf<Op, P, typename DefaultBackends<Space>::type>::type;
};

/// Entries of the smallest table that reads an input of integers; of lengths, how many there are;
/// two where it is a mask.
template <class Net> constexpr int entries_of(int input) {
  constexpr int most = std::numeric_limits<int>::max();
  int least = most;
  for (int i = 0; i < Net::program::nodes.size; ++i) {
    Node const& n = Net::program::nodes.node[i];
    if (n.role == Role::scan && n.source[n.sources - 1] == Ports<Net>::input_node(input))
      least = n.input.positions() + 1;
    if (n.role != Role::lookup || n.source[0] != Ports<Net>::input_node(input)) continue;
    int const entries = n.parameter[0].count / n.output.channels;
    least = entries < least ? entries : least;
  }
  return least == most ? 2 : least;
}
/// Whether an input of integers is a mask: the first integers of a sample are then zero, so that
/// every query has a key.
template <class Net> constexpr bool is_mask(int input) {
  for (Node const& n : Net::program::nodes.node)
    if (n.role == Role::product && n.sources == 3 && n.source[2] == Ports<Net>::input_node(input))
      return true;
  return false;
}

/// What a network computes from one set of variables.
struct Results {
  std::vector<double> outputs, d_inputs, d_parameters, statistics, inferred;
  bool operator==(Results const&) const = default;
};

/// A network with inputs and parameters drawn from a seed, and a function of its outputs:
/// sum of c_i y_i + y_i^3 / 6, whose third derivative is nowhere zero by construction.
template <class Net, class P, class Backend, FusionLevel Level> class Subject {
 public:
  using ModelType = Model<Net, P, Execution<Space, Backends<Backend>, Level>>;
  using AllPorts = Ports<Net>;
  static constexpr bool reads_integers = [] {
    bool any = false;
    for (int k = 0; k < AllPorts::inputs; ++k) any = any || AllPorts::takes_integers(k);
    return any;
  }();
  static constexpr bool has_matrix = Matrices<Net>::count > 0;

  Subject(int batch, unsigned seed)
      : model_(exec_, {.batch = batch > 0 ? batch : 1, .seed = seed}),
        x_(make("x", batch, false)),
        y_(make("y", batch, true)),
        d_y_(make("d_y", batch, true)),
        d_x_(make("d_x", batch, false)),
        indices_("indices", std::size_t(batch), std::size_t(size_of_inputs(true))) {
    exec_.fence("subject");
    for (int n = 0; n < batch; ++n) draw_indices(seed, n);
    for (std::size_t i = 0; i < x_.size(); ++i) x_.data()[i] = draw(seed, 0, i);
    // Biases and shifts away from zero, so that their gradients matter everywhere.
    for (std::size_t i = 0; i < model_.parameters().size(); ++i) {
      auto& p = model_.parameters()(i);
      p = typename P::storage(double(p) + 0.3 * draw(seed, 1, i));
    }
    set_statistics();
    if constexpr (has_matrix)
      model_.bind_matrix(drawn_matrix(seed, std::size_t(Net::input.positions())));
  }

  /// Running statistics as after some training; every forward pass moves them.
  void set_statistics() {
    for (std::size_t i = 0; i < model_.buffers().size(); ++i)
      model_.buffers()(i) = float(1 + 0.5 * draw(3, 2, i));
  }

  /// All inputs but integers.
  Matrix const& x() const { return x_; }
  ModelType& model() { return model_; }
  Space const& exec() const { return exec_; }
  std::size_t variables() const { return x_.size() + model_.parameters().size(); }

  /// The function's value, with the random masks of the first forward pass.
  double value() {
    forward();
    double sum = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      double const y = y_.data()[i];
      sum += coefficient(i) * y + y * y * y / 6;
    }
    return sum;
  }

  Results results() {
    Results r;
    set_statistics();
    forward();
    r.outputs.assign(y_.data(), y_.data() + y_.size());
    for (std::size_t i = 0; i < y_.size(); ++i) {
      double const y = y_.data()[i];
      d_y_.data()[i] = coefficient(i) + y * y / 2;
    }
    Kokkos::deep_copy(d_x_, NAN);
    backward();
    exec_.fence("subject");
    r.d_inputs.assign(d_x_.data(), d_x_.data() + d_x_.size());
    for (std::size_t i = 0; i < model_.parameters().size(); ++i)
      r.d_parameters.push_back(double(model_.gradients()(i)));
    r.statistics.assign(model_.buffers().data(), model_.buffers().data() + model_.buffers().size());
    r.inferred = infer();
    return r;
  }

  std::vector<double> infer() {
    set_statistics();
    Kokkos::deep_copy(y_, NAN);
    model_.infer(exec_, inputs(), outputs(y_));
    exec_.fence("subject");
    return {y_.data(), y_.data() + y_.size()};
  }

 private:
  // Numbers of a sample in the inputs of integers, or in all others.
  static constexpr int size_of_inputs(bool integers, int count = AllPorts::inputs) {
    int sum = 0;
    for (int k = 0; k < count; ++k)
      if (AllPorts::takes_integers(k) == integers) sum += AllPorts::input_shape(k).size();
    return sum;
  }
  static constexpr int size_of_outputs(int count = AllPorts::outputs) {
    int sum = 0;
    for (int k = 0; k < count; ++k) sum += AllPorts::output_shape(k).size();
    return sum;
  }
  static Matrix make(char const* label, int batch, bool outputs) {
    return Matrix(label, std::size_t(batch),
                  std::size_t(outputs ? size_of_outputs() : size_of_inputs(false)));
  }
  // Entries of a table more than once, and one of its first and last in each sample.
  void draw_indices(unsigned seed, int n) {
    int at = 0;
    for (int k = 0; k < AllPorts::inputs; ++k) {
      if (!AllPorts::takes_integers(k)) continue;
      int const entries = entries_of<Net>(k), size = AllPorts::input_shape(k).size();
      for (int i = 0; i < size; ++i, ++at)
        indices_(n, at) = i > 0 ? int((draw(seed, 4, std::size_t(n * size + i)) + 1) / 2 * entries)
                          : n % 2 == 0 && !is_mask<Net>(k) ? entries - 1
                                                           : 0;
    }
  }
  // Rows of none to two entries, not symmetric.
  auto drawn_matrix(unsigned seed, std::size_t rows) const {
    using A = typename P::accumulate;
    Kokkos::View<int*, Kokkos::HostSpace> row_map("row_map", rows + 1),
        entries("entries", 2 * rows);
    Kokkos::View<A*, Kokkos::HostSpace> values("values", 2 * rows);
    int count = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t k = 0; k < r % 3; ++k, ++count) {
        entries(count) = int((3 * r + 2 * k + 1) % rows);
        values(count) = A(draw(seed, 5, std::size_t(count)));
      }
      row_map(r + 1) = count;
    }
    auto const all = std::pair(0, count);
    return SparseMatrix<A, Space>(exec_, row_map, Kokkos::subview(entries, all),
                                  Kokkos::subview(values, all));
  }
  static double draw(unsigned seed, unsigned stream, std::size_t i) {
    return 2 * double(random_uniform(seed, 0, stream, i, 0)) - 1;
  }
  static double coefficient(std::size_t i) { return std::cos(1.0 + 1.7 * double(i)); }

  // Each input or output, as the call of a network with names takes them.
  static constexpr bool has_names = requires { typename Net::ports; };
  template <int K, class N = Net> using Tag = At<typename N::ports, K>;

  template <int K> auto input(Matrix const& numbers) const {
    constexpr bool integers = AllPorts::takes_integers(K);
    constexpr int first = size_of_inputs(integers, K);
    if constexpr (integers)
      return columns(indices_, first, AllPorts::input_shape(K).size());
    else
      return columns(numbers, first, AllPorts::input_shape(K).size());
  }
  template <class V> static auto columns(V const& m, int first, int count) {
    return Kokkos::subview(m, Kokkos::ALL, std::pair<int, int>(first, first + count));
  }
  auto inputs() const {
    if constexpr (has_names)
      return named_inputs(std::make_index_sequence<Net::ports::size>{});
    else
      return input<0>(x_);
  }
  template <std::size_t... K> auto named_inputs(std::index_sequence<K...>) const {
    return tensors(named<Tag<int(K)>>(input<int(K)>(x_))...);
  }
  static auto outputs(Matrix const& m) {
    if constexpr (has_names)
      return named_outputs(m, std::make_index_sequence<Net::ports::size>{});
    else
      return m;
  }
  template <std::size_t... K>
  static auto named_outputs(Matrix const& m, std::index_sequence<K...>) {
    return tensors(named<Tag<int(K)>>(
        columns(m, size_of_outputs(int(K)), AllPorts::output_shape(int(K)).size()))...);
  }
  // Of all inputs but integers, which have no gradient.
  template <int K = 0, class Before = Tensors<>>
  auto input_gradients(Before const& all = {}) const {
    if constexpr (K == Net::ports::size)
      return all;
    else if constexpr (AllPorts::takes_integers(K))
      return input_gradients<K + 1>(all);
    else
      return input_gradients<K + 1>(append(all, named<Tag<K>>(input<K>(d_x_))));
  }
  template <class... Before, class N>
  static auto append(Tensors<Before...> const& before, N const& last) {
    return Tensors<N, Before...>{last, before};
  }
  void backward() {
    if constexpr (has_names)
      model_.backward(exec_, outputs(d_y_), input_gradients());
    else if constexpr (reads_integers)
      model_.backward(exec_, d_y_);
    else
      model_.backward(exec_, d_y_, d_x_);
  }

  void forward() {
    model_.state()().forward = 0;
    Kokkos::deep_copy(y_, NAN);
    model_.forward(exec_, inputs(), outputs(y_));
    exec_.fence("subject");
  }

  Space exec_;
  ModelType model_;
  Matrix x_, y_, d_y_, d_x_;
  Indices indices_;
};

}  // namespace phyllo::test
