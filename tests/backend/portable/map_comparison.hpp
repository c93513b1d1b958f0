// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/map.hpp>
#include <phyllo/backend/reference/map.hpp>

#include <backend/portable/comparison.hpp>

#include <algorithm>

namespace phyllo::test {

/// Two operands, a parameter for each channel, one for all, and noise.
struct NoisyProduct {
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}};
  static constexpr MapParameter parameters[] = {{"weight", 1}, {"bias", 0, false}};
  static constexpr bool random = true;
  template <class T> PHYLLO_FUNCTION static T value(T a, T b, T weight, T bias, T noise) {
    return a * b * weight + bias * a + T(0.25) * noise * b;
  }
  template <class T>
  PHYLLO_FUNCTION static Partials<T, 4> derivatives(T a, T b, T weight, T bias, T noise) {
    return {b * weight + bias, a * weight + T(0.25) * noise, a * b, a};
  }
};
/// The same without parameters and noise.
struct PlainProduct {
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}};
  template <class T> PHYLLO_FUNCTION static T value(T a, T b) { return a * b - b; }
  template <class T> PHYLLO_FUNCTION static Partials<T, 2> derivatives(T a, T b) {
    return {b, a - T(1)};
  }
};

/// Which places of the result read one number of an operand.
struct Shared {
  bool positions = false, channels = false;
};

/// Both passes of a map by a backend against the reference; the first operand is the second part of
/// rows of `pitch` numbers.
template <class Formula, class Chain, class P, template <class, class> class Kernels>
void compare_map(int batch, int positions, int channels, int pitch, Shared a, Shared b) {
  INFO("batch ", batch, " positions ", positions, " channels ", channels, " pitch ", pitch);
  INFO("shared ", a.positions, a.channels, b.positions, b.channels);
  using Op = op::Map<Formula, Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  long const size = long(batch) * positions * channels;
  int const offset = pitch - (a.channels ? 1 : channels);
  auto const numbers_of = [&](Shared s, int of) {
    return long(batch) * (s.positions ? 1 : positions) * of;
  };
  long const a_size = numbers_of(a, pitch), b_size = numbers_of(b, b.channels ? 1 : channels);
  auto const y = numbers<S>(b_size, 2), weight = numbers<S>(channels, 3), bias = numbers<S>(1, 4);
  // Positive, so that no sum is small beside what it adds.
  auto x = numbers<S>(a_size, 1), d_y = numbers<S>(size, 5);
  for (long i = 0; i < a_size; ++i) x.data()[i] = S(1.25f + float(x.data()[i]));
  for (long i = 0; i < size; ++i) d_y.data()[i] = S(1.25f + float(d_y.data()[i]));
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  auto const fill = [&](auto& work) {
    work.batch = batch;
    work.positions = positions;
    work.channels = channels;
    work.x[0] = {x.data() + offset, pitch, a.channels ? 0 : 1, a.positions ? 0 : 1};
    work.x[1] = {y.data(), b.channels ? 1 : channels, b.channels ? 0 : 1, b.positions ? 0 : 1};
    if constexpr (Op::parameters > 0) {
      work.parameter[0] = weight.data();
      work.parameter[1] = bias.data();
      work.parameter_step[0] = 1;
    }
    work.noise = {&state, 1};
    work.random = {&state, 2};
  };
  // Noise is computed in float, whose last bit depends on what a compiler contracts.
  bool const contracts = Op::is_random && PHYLLO_FUSES_MULTIPLY_ADD;
  double const rounding = contracts ? std::max(bound<P>(), bound<Full<float>>()) : bound<P>();
  typename Op::template Forward<P> forward;
  fill(forward);
  auto const to_y = output<S>(size, [](auto& w, S* p) { w.y = p; });
  compare<Op, P, Kernels>(forward, rounding, to_y);
  if (Op::is_random) {  // in inference
    forward.noise.state = forward.random.state = nullptr;
    compare<Op, P, Kernels>(forward, rounding, to_y);
  }
  typename Op::template Backward<P> backward;
  fill(backward);
  backward.d_y = d_y.data();
  double const limit = 16 * rounding;
  auto const d_a = [&](bool added) {
    return output<S>(a_size, added, [=](auto& w, S* p) { w.d_x[0] = p + offset; });
  };
  auto const d_b = [&](bool added) {
    return output<S>(b_size, added, [](auto& w, S* p) { w.d_x[1] = p; });
  };
  auto const partial = workspace<A>(long(Op::row_blocks) * Op::parameters * channels,
                                    [](auto& w, A* p) { w.partial = p; });
  auto const d_weight = output<A>(channels, [](auto& w, A* p) { w.d_parameter[0] = p; });
  auto const d_bias = output<A>(1, [](auto& w, A* p) { w.d_parameter[1] = p; });
  // What is beside the first operand in its rows keeps its numbers.
  bool const whole = offset == 0;
  for (bool const added : {false, true}) {
    backward.accumulate_gradient[0] = added;
    backward.accumulate_gradient[1] = !added;
    if constexpr (Op::parameters > 0)
      compare<Op, P, Kernels>(backward, limit, partial, d_a(added || !whole), d_b(!added), d_weight,
                              d_bias);
    else
      compare<Op, P, Kernels>(backward, limit, d_a(added || !whole), d_b(!added));
  }
  if constexpr (Op::parameters > 0)
    compare<Op, P, Kernels>(backward, limit, partial, d_weight, d_bias, d_b(true));
  else
    compare<Op, P, Kernels>(backward, limit, d_a(true));
}

/// Counts of channels below and above a tile, few and many rows, and all that may be shared.
template <class Formula, class Chain, class P, template <class, class> class Kernels>
void compare_maps() {
  constexpr Shared none{}, positions{true, false}, channels{false, true}, both{true, true};
  auto const at = [](int batch, int places, int width, Shared a, Shared b) {
    int const own = a.channels ? 1 : width;
    compare_map<Formula, Chain, P, Kernels>(batch, places, width, own, a, b);
    if (width > 1) compare_map<Formula, Chain, P, Kernels>(batch, places, width, 2 * own, a, b);
  };
  for (int const width : {1, 16, 65, 200}) {
    at(1, 1, width, none, none);
    at(3, 7, width, none, positions);
    at(7, 5, width, none, channels);
    at(2, 9, width, both, none);
    at(2, 20, width, positions, channels);
  }
  at(40, 25, 2, none, none);
  at(16, 25, 33, none, none);
  at(0, 4, 17, none, positions);
}

}  // namespace phyllo::test
