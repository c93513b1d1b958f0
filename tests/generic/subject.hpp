// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/phyllo.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace phyllo::test {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

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

  Subject(int batch, unsigned seed)
      : model_(exec_, {.batch = batch > 0 ? batch : 1, .seed = seed}),
        x_(make("x", batch, false)),
        y_(make("y", batch, true)),
        d_y_(make("d_y", batch, true)),
        d_x_(make("d_x", batch, false)) {
    exec_.fence("subject");
    for (std::size_t i = 0; i < x_.size(); ++i) x_.data()[i] = draw(seed, 0, i);
    // Biases and shifts away from zero, so that their gradients matter everywhere.
    for (std::size_t i = 0; i < model_.parameters().size(); ++i) {
      auto& p = model_.parameters()(i);
      p = typename P::storage(double(p) + 0.3 * draw(seed, 1, i));
    }
    set_statistics();
  }

  /// Running statistics as after some training; every forward pass moves them.
  void set_statistics() {
    for (std::size_t i = 0; i < model_.buffers().size(); ++i)
      model_.buffers()(i) = float(1 + 0.5 * draw(3, 2, i));
  }

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
    model_.backward(exec_, ports<true>(d_y_), ports<false>(d_x_));
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
    model_.infer(exec_, ports<false>(x_), ports<true>(y_));
    exec_.fence("subject");
    return {y_.data(), y_.data() + y_.size()};
  }

 private:
  static constexpr int total(bool outputs) {
    int sum = 0;
    for (int k = 0; k < (outputs ? AllPorts::outputs : AllPorts::inputs); ++k)
      sum += (outputs ? AllPorts::output_shape(k) : AllPorts::input_shape(k)).size();
    return sum;
  }
  static Matrix make(char const* label, int batch, bool outputs) {
    return Matrix(label, std::size_t(batch), std::size_t(total(outputs)));
  }
  static double draw(unsigned seed, unsigned stream, std::size_t i) {
    return 2 * double(random_uniform(seed, 0, stream, i, 0)) - 1;
  }
  static double coefficient(std::size_t i) { return std::cos(1.0 + 1.7 * double(i)); }

  // The columns of each input or output, as the call of a network with names takes them.
  template <bool Outputs> static auto ports(Matrix const& m) {
    if constexpr (requires { typename Net::ports; })
      return named_ports<Outputs>(m, std::make_index_sequence<Net::ports::size>{});
    else
      return m;
  }
  template <bool Outputs, std::size_t... K>
  static auto named_ports(Matrix const& m, std::index_sequence<K...>) {
    return tensors(named<At<typename Net::ports, K>>(columns<Outputs>(m, int(K)))...);
  }
  template <bool Outputs> static auto columns(Matrix const& m, int k) {
    int first = 0;
    auto const size = [](int i) {
      return (Outputs ? AllPorts::output_shape(i) : AllPorts::input_shape(i)).size();
    };
    for (int i = 0; i < k; ++i) first += size(i);
    return Kokkos::subview(m, Kokkos::ALL, std::pair<int, int>(first, first + size(k)));
  }

  void forward() {
    model_.state()().forward = 0;
    Kokkos::deep_copy(y_, NAN);
    model_.forward(exec_, ports<false>(x_), ports<true>(y_));
    exec_.fence("subject");
  }

  Space exec_;
  ModelType model_;
  Matrix x_, y_, d_y_, d_x_;
};

}  // namespace phyllo::test
