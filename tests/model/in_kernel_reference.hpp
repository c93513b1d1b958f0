// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/program.hpp>
#include <phyllo/op/pooling.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace in_kernel_test {

using namespace phyllo;

using Numbers = std::vector<double>;

// Inference by plain loops over a program's nodes, in double, values in the field's order (C, S):
// no plan, no fusion, no arena, no channels-last.
template <class Net> struct Interpreter {
  using program = typename Net::program;
  using leaves = typename program::leaves;
  Numbers parameters, buffers;
  std::vector<Numbers> value = std::vector<Numbers>(program::size);

  std::vector<Numbers> run(std::vector<Numbers> const& inputs) {
    std::size_t next = 0;
    for (int i = 0; i < program::size; ++i)
      if (node(i).role == Role::input) value[std::size_t(i)] = inputs[next++];
    [this]<std::size_t... I>(std::index_sequence<I...>) {
      (this->template evaluate<At<leaves, I>>(int(I)), ...);
    }(std::make_index_sequence<program::size>{});
    std::vector<Numbers> outputs;
    for (int o = 0; o < program::nodes.outputs; ++o)
      outputs.push_back(of(program::nodes.output[o]));
    return outputs;
  }

 private:
  static Node const& node(int i) { return program::nodes.node[i]; }
  Numbers const& of(int i) const { return value[std::size_t(i)]; }
  double parameter(int at) const { return parameters[std::size_t(at)]; }
  double buffer(int at) const { return buffers[std::size_t(at)]; }

  static int position(Shape const& s, int d, int h, int w) {
    return (d * s.spatial[1] + h) * s.spatial[2] + w;
  }
  // f(q, p, t): output position, input position, tap.
  template <class F> static void slide(Node const& n, F&& f) {
    Shape const &in = n.input, &out = n.output;
    int q[3], t[3], p[3];
    for (q[0] = 0; q[0] < out.spatial[0]; ++q[0])
      for (q[1] = 0; q[1] < out.spatial[1]; ++q[1])
        for (q[2] = 0; q[2] < out.spatial[2]; ++q[2])
          for (t[0] = 0; t[0] < n.window.size[0]; ++t[0])
            for (t[1] = 0; t[1] < n.window.size[1]; ++t[1])
              for (t[2] = 0; t[2] < n.window.size[2]; ++t[2]) {
                bool inside = true;
                for (int d = 0; d < 3; ++d) {
                  p[d] = q[d] * n.window.stride[d] + t[d] - n.window.padding[d];
                  inside = inside && p[d] >= 0 && p[d] < in.spatial[d];
                }
                if (inside)
                  f(position(out, q[0], q[1], q[2]), position(in, p[0], p[1], p[2]),
                    (t[0] * n.window.size[1] + t[1]) * n.window.size[2] + t[2]);
              }
  }

  template <class Leaf> void evaluate(int i) {
    Node const& n = node(i);
    if (n.alias || n.role == Role::input) return;
    Numbers const& x = of(n.source[0]);
    int const channels = n.output.channels, positions = n.output.positions();
    int const in_channels = n.input.channels, in_positions = n.input.positions();
    Numbers y(std::size_t(n.output.size()), 0.0);
    auto in = [&](int c, int p) { return x[std::size_t(c * in_positions + p)]; };
    auto out = [&](int c, int q) -> double& { return y[std::size_t(c * positions + q)]; };
    auto each = [&](auto&& f) {
      for (int c = 0; c < channels; ++c)
        for (int q = 0; q < positions; ++q) f(c, q);
    };
    if constexpr (Leaf::role == Role::contraction) {
      slide(n, [&](int q, int p, int t) {
        for (int c = 0; c < in_channels; ++c)
          for (int o = 0; o < channels; ++o)
            out(o, q) +=
                in(c, p) * parameter(n.parameter[0].offset + (t * in_channels + c) * channels + o);
      });
      if (n.parameter[1].count > 0)
        each([&](int c, int q) { out(c, q) += parameter(n.parameter[1].offset + c); });
    } else if constexpr (Leaf::role == Role::normalization) {
      each([&](int c, int q) {
        double const deviation = std::sqrt(buffer(n.buffer + channels + c) + double(n.epsilon));
        out(c, q) =
            (in(c, q) - buffer(n.buffer + c)) / deviation * parameter(n.parameter[0].offset + c) +
            parameter(n.parameter[1].offset + c);
      });
    } else if constexpr (Leaf::role == Role::pointwise) {
      each([&](int c, int q) { out(c, q) = op::Chain<Leaf>::value(in(c, q), Element{}); });
    } else if constexpr (Leaf::role == Role::pooling) {
      if constexpr (Leaf::kind == op::PoolingKind::maximum) {
        std::fill(y.begin(), y.end(), -std::numeric_limits<double>::infinity());
        slide(n, [&](int q, int p, int) {
          for (int c = 0; c < channels; ++c) out(c, q) = std::max(out(c, q), in(c, p));
        });
      } else {
        slide(n, [&](int q, int p, int) {
          for (int c = 0; c < channels; ++c) out(c, q) += in(c, p) / n.window.taps();
        });
      }
    } else if constexpr (requires { requires Leaf::reshapes; }) {
      y = x;
    } else if constexpr (Leaf::role == Role::move) {  // Upsample
      for (int c = 0; c < channels; ++c)
        for (int d = 0; d < n.output.spatial[0]; ++d)
          for (int h = 0; h < n.output.spatial[1]; ++h)
            for (int w = 0; w < n.output.spatial[2]; ++w) {
              auto down = [&](int k, int at) {
                return at * n.input.spatial[k] / n.output.spatial[k];
              };
              out(c, position(n.output, d, h, w)) =
                  in(c, position(n.input, down(0, d), down(1, h), down(2, w)));
            }
    } else if constexpr (Leaf::role == Role::add) {
      for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[k] + of(n.source[1])[k];
    } else if constexpr (Leaf::role == Role::concatenation) {
      y.clear();
      for (int s = 0; s < n.sources; ++s) {
        Numbers const& part = of(n.source[s]);
        y.insert(y.end(), part.begin(), part.end());
      }
    } else if constexpr (Leaf::role == Role::row) {
      for (int q = 0; q < positions; ++q) {
        double sum = 0;
        for (int c = 0; c < channels; ++c) sum += std::exp(in(c, q));
        for (int c = 0; c < channels; ++c) out(c, q) = std::exp(in(c, q)) / sum;
      }
    }
    value[std::size_t(i)] = y;
  }
};

}  // namespace in_kernel_test
