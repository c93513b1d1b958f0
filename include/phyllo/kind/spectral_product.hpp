// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/spectral_product.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Complex channels of each frequency times a matrix of its own.
template <> struct Kind<Role::spectral_product> {
  static constexpr KindFacts facts{.rereads_sources = true};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    int const inputs = n.input.channels / 2, outputs = n.output.channels / 2;
    if (detail::exceeds_int(2.0, n.input.positions(), inputs, outputs)) {
      n.ok = false;
      n.oversized = true;
      return;
    }
    ParameterTensor& w = n.parameter[0];
    w.name = "weight";
    w.taps = 2 * n.input.positions();
    w.channels = inputs;
    w.outputs = outputs;
    w.count = w.taps * inputs * outputs;
    w.initial = Initial::scheme;
    w.fan_in = n.input.channels;
    w.fan_out = n.output.channels;
    w.gives_source_gradient = true;
    w.file[0] = outputs;
    w.file[1] = inputs;
    w.file_rank = 2;
    for (int d = 3 - n.input.rank; d < 3; ++d) w.file[w.file_rank++] = n.input.spatial[d];
    w.file[w.file_rank++] = 2;
    n.flops = 8L * n.input.positions() * inputs * outputs;
    n.parameter_gradient_flops = n.source_gradient_flops = n.flops;
  }

  template <class, int> using Op = op::SpectralProduct;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::SpectralProduct::Forward<typename Pass::precision> work;
    work.sizes = sizes_of(n, pass.batch);
    work.x = pass.value(n.source[0]);
    work.weight = pass.parameter(n.parameter[0]);
    work.y = pass.value(Planned::result(S));
    work.memory = pass.arenas.memory;
    pass.template run<op::SpectralProduct>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    op::SpectralProduct::BackwardParameters<P> parameters;
    parameters.sizes = sizes_of(n, pass.batch);
    parameters.x = pass.value(n.source[0]);
    parameters.d_y = pass.template result_gradient<S>();
    parameters.d_weight = pass.parameter_gradient(n.parameter[0]);
    parameters.memory = pass.arenas.memory;
    pass.template run<op::SpectralProduct>(S, parameters);
    if (!pass.template wants<S>(0)) return;
    op::SpectralProduct::BackwardSource<P> source;
    source.sizes = parameters.sizes;
    source.d_y = parameters.d_y;
    source.weight = pass.parameter(n.parameter[0]);
    source.d_x = pass.gradient(n.source[0]);
    source.accumulate = Planned::liveness.accumulates(S, 0);
    source.memory = pass.arenas.memory;
    pass.template run<op::SpectralProduct>(S, source);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    constexpr int inputs = Step::C / 2, outputs = Step::O / 2;
    int const m = i / Step::O, o = i % outputs;
    bool const is_real_part = i % Step::O < outputs;
    auto const* const x = step.template source<0>() + m * Step::C;
    auto const* const w = step.parameters + Step::Facts::weight + m * 2 * inputs * outputs + o;
    T sum = 0;
    for (int c = 0; c < inputs; ++c) {
      T const real = T(w[c * outputs]), imaginary = T(w[(inputs + c) * outputs]);
      T const x_real = T(x[c]), x_imaginary = T(x[inputs + c]);
      sum += is_real_part ? real * x_real - imaginary * x_imaginary
                          : real * x_imaginary + imaginary * x_real;
    }
    step.write(i, sum);
  }

 private:
  static constexpr op::SpectralProduct::Sizes sizes_of(Node const& n, int batch) {
    return {batch, n.input.positions(), n.input.channels / 2, n.output.channels / 2};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
