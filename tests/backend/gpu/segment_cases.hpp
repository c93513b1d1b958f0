// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/segment/segment.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/layer/pointwise.hpp>
#include <phyllo/policy/precision.hpp>

#include <cmath>

namespace phyllo::test {

using Space = Kokkos::DefaultHostExecutionSpace;

template <class S> S number(unsigned seed, std::size_t i) {
  return S(2 * random_uniform(seed, 0, 0, i, 0) - 1);
}
template <class T> std::vector<T> numbers(long count, unsigned seed) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = number<T>(seed, i);
  return v;
}

// Parameters one behind the other, from multiples of 64 bytes on; between them not-a-numbers.
template <class Segment> struct Arena;
template <class... D> struct Arena<op::Segment<D...>> {
  static constexpr int inputs[] = {D::inputs...}, outputs[] = {D::outputs...};
  static constexpr bool has_bias[] = {D::bias...};
  static constexpr int layers = sizeof...(D);
  static constexpr int first = inputs[0], last = outputs[layers - 1];

  template <class S, class Work> static std::vector<S> fill(Work& work) {
    std::vector<S> p;
    auto const add = [&](int count, unsigned seed, float scale) {
      int const at = int(p.size());
      for (int i = 0; i < count; ++i) p.push_back(S(scale * number<float>(seed, std::size_t(i))));
      p.push_back(S(std::nanf("")));
      while (p.size() % 32 != 0) p.push_back(S(std::nanf("")));
      return at;
    };
    for (int l = 0; l < layers; ++l) {
      work.weight[l] =
          add(inputs[l] * outputs[l], unsigned(10 + l), std::sqrt(3.0f / float(inputs[l])));
      work.bias[l] = has_bias[l] ? add(outputs[l], unsigned(30 + l), 0.5f) : -1;
      work.position[l] = 2 * l;
    }
    return p;
  }
};

/// The identity, but not at zero, which is what padding has.
struct BesideZero : Pointwise {
  static constexpr char const* name = "beside zero";
  template <class T> PHYLLO_INLINE static T value(T x) {
    return x == T(0) ? Kokkos::Experimental::infinity_v<T> : x;
  }
  template <class T> PHYLLO_INLINE static T derivative(T x) {
    return x == T(0) ? Kokkos::Experimental::infinity_v<T> : T(1);
  }
};

/// Relative error of an operation; of float by products of parts.
template <class S> inline constexpr double rounding = double(S::epsilon);
template <> inline constexpr double rounding<float> = 0x1p-19;
template <class S>
inline constexpr ElementType type_of = std::is_same_v<S, float>  ? ElementType::f32
                                       : std::is_same_v<S, bf16> ? ElementType::bf16
                                                                 : ElementType::f16;
template <class S> struct PrecisionOf {
  using type = Mixed<S, float>;
};
template <> struct PrecisionOf<float> {
  using type = Full<float>;
};

template <int In, int Out, class... F> using Dense = op::Dense<In, Out, true, op::Chain<F...>>;
template <int In, int Out, class... F> using Bare = op::Dense<In, Out, false, op::Chain<F...>>;

}  // namespace phyllo::test
