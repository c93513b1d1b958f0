// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/spectral_product.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: `block` complex results of one sample and frequency.
template <class P> struct spectral_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::SpectralProduct::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    auto const [batch, modes, inputs, outputs] = work.sizes;
    long const blocks = blocks_of(outputs, block), row = item / blocks;
    int const first = int(item % blocks) * block;
    int const count = outputs - first < block ? outputs - first : block;
    S const* const x = work.x + row * 2 * inputs;
    S const* const w = work.weight + (row % modes) * 2 * inputs * outputs + first;
    S const* const w_imaginary = w + long(inputs) * outputs;
    A real[block] = {}, imaginary[block] = {};
    for (int i = 0; i < inputs; ++i) {
      A const x_real = A(x[i]), x_imaginary = A(x[inputs + i]);
      for (int k = 0; k < count; ++k) {
        A const r = A(w[long(i) * outputs + k]), s = A(w_imaginary[long(i) * outputs + k]);
        real[k] += r * x_real - s * x_imaginary;
        imaginary[k] += r * x_imaginary + s * x_real;
      }
    }
    S* const y = work.y + row * 2 * outputs + first;
    for (int k = 0; k < count; ++k) {
      y[k] = S(real[k]);
      y[outputs + k] = S(imaginary[k]);
    }
  }
};

/// One work item: one complex number of the gradient.
template <class P> struct spectral_backward_source {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::SpectralProduct::BackwardSource<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    auto const [batch, modes, inputs, outputs] = work.sizes;
    long const row = item / inputs;
    int const i = int(item % inputs);
    S const* const d_y = work.d_y + row * 2 * outputs;
    S const* const w = work.weight + ((row % modes) * 2 * inputs + i) * long(outputs);
    S const* const w_imaginary = w + long(inputs) * outputs;
    A real = 0, imaginary = 0;
    for (int o = 0; o < outputs; ++o) {
      A const r = A(w[o]), s = A(w_imaginary[o]);
      A const d_real = A(d_y[o]), d_imaginary = A(d_y[outputs + o]);
      real += r * d_real + s * d_imaginary;
      imaginary += r * d_imaginary - s * d_real;
    }
    S* const d_x = work.d_x + row * 2 * inputs + i;
    d_x[0] = S(work.accumulate ? A(d_x[0]) + real : real);
    d_x[inputs] = S(work.accumulate ? A(d_x[inputs]) + imaginary : imaginary);
  }
};

/// One work item: `block` weights of one frequency and input, over all samples.
template <class P> struct spectral_backward_parameters {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::SpectralProduct::BackwardParameters<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    auto const [batch, modes, inputs, outputs] = work.sizes;
    long const blocks = blocks_of(outputs, block), rest = item / blocks;
    int const first = int(item % blocks) * block, i = int(rest % inputs);
    long const mode = rest / inputs;
    int const count = outputs - first < block ? outputs - first : block;
    A real[block] = {}, imaginary[block] = {};
    for (int n = 0; n < batch; ++n) {
      long const row = long(n) * modes + mode;
      S const* const x = work.x + row * 2 * inputs + i;
      S const* const d_y = work.d_y + row * 2 * outputs + first;
      A const x_real = A(x[0]), x_imaginary = A(x[inputs]);
      for (int k = 0; k < count; ++k) {
        A const d_real = A(d_y[k]), d_imaginary = A(d_y[outputs + k]);
        real[k] += d_real * x_real + d_imaginary * x_imaginary;
        imaginary[k] += d_imaginary * x_real - d_real * x_imaginary;
      }
    }
    A* const d_weight = work.d_weight + (mode * 2 * inputs + i) * outputs + first;
    for (int k = 0; k < count; ++k) {
      d_weight[k] = real[k];
      d_weight[long(inputs) * outputs + k] = imaginary[k];
    }
  }
};

template <class P> struct Kernels<op::SpectralProduct, P> {
  using Sizes = op::SpectralProduct::Sizes;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SpectralProduct::Forward<P> const& work) {
    Sizes const& s = work.sizes;
    launch(exec, label, long(s.batch) * s.modes * blocks_of(s.outputs, block),
           spectral_forward<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SpectralProduct::BackwardSource<P> const& work) {
    Sizes const& s = work.sizes;
    launch(exec, label, long(s.batch) * s.modes * s.inputs, spectral_backward_source<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SpectralProduct::BackwardParameters<P> const& work) {
    Sizes const& s = work.sizes;
    launch(exec, label, long(s.modes) * s.inputs * blocks_of(s.outputs, block),
           spectral_backward_parameters<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
