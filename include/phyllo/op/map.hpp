// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/random_normal.hpp>
#include <phyllo/op/chain.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// One operand of a map: part number `part` of the channels of a source, which are divided into
/// `parts` equal ones.
struct MapOperand {
  int source = 0;
  int part = 0;
  int parts = 1;
};

/// One parameter of a map: a number for each channel of the result, or one for all.
struct MapParameter {
  char const* name = "weight";  // in files
  double initial = 0;
  bool per_channel = true;
};

/// A buffer of a map, which no optimizer changes: a float for each channel of the result, or for
/// each of its elements.
struct MapBuffer {
  char const* name = "";  // in files
  float initial = 0;
  bool per_element = false;
};

/// The derivatives of a map by its operands, then by its parameters.
template <class T, int Count> struct Partials {
  T by[Count];
};

namespace op {

namespace detail {

// nvcc has no extent of an array of a class template that is stated by its initialiser alone.
template <class Array> constexpr int extent_of() {
  static_assert(std::is_bounded_array_v<Array>,
                "Map: expected `operands` and `parameters` to be arrays of a stated size. Write "
                "operands[2] where the layer is a template.");
  return int(std::extent_v<Array>);
}
template <class Formula>
concept HasMapParameters = requires { Formula::parameters; };
template <class Formula> inline constexpr int map_parameters = 0;
template <HasMapParameters Formula>
inline constexpr int map_parameters<Formula> = extent_of<decltype(Formula::parameters)>();
template <class Formula>
inline constexpr int map_operands = extent_of<decltype(Formula::operands)>();
template <class Formula>
concept HasMapBuffers = requires { Formula::buffers; };
template <class Formula> inline constexpr int map_buffers = 0;
template <HasMapBuffers Formula>
inline constexpr int map_buffers<Formula> = extent_of<decltype(Formula::buffers)>();
template <class Formula>
inline constexpr int map_arguments =
    map_operands<Formula> + map_parameters<Formula> + map_buffers<Formula>;
template <class Formula>
using MapArguments = std::make_index_sequence<std::size_t(map_arguments<Formula>)>;
// Those that have derivatives.
template <class Formula>
using MapVariables =
    std::make_index_sequence<std::size_t(map_operands<Formula> + map_parameters<Formula>)>;

// The formula of operands, parameters, buffers and, where it draws noise, of that.
template <class Formula, class T, std::size_t... I>
PHYLLO_INLINE T map_value(T const* arguments, [[maybe_unused]] T noise, std::index_sequence<I...>) {
  if constexpr (is_random<Formula>)
    return Formula::value(arguments[I]..., noise);
  else
    return Formula::value(arguments[I]...);
}
template <class Formula, class T, std::size_t... I>
PHYLLO_INLINE auto map_derivatives(T const* arguments, [[maybe_unused]] T noise,
                                   std::index_sequence<I...>) {
  if constexpr (is_random<Formula>)
    return Formula::derivatives(arguments[I]..., noise);
  else
    return Formula::derivatives(arguments[I]...);
}

}  // namespace detail

/// Partial sums of a parameter, at most.
inline constexpr int map_row_blocks = 256;

/// An element-wise function of several operands, of parameters and of buffers, with an epilogue:
/// y = chain(z), z = f(x_0, x_1, ..., p_0, p_1, ..., b_0, ...), and of noise where the formula is
/// random.
///
/// shape    y (N, S, C); operand j (N, S or 1, C or 1), inside of rows of `pitch` numbers;
///          parameter k (C) or one number; buffer k (C) or (S, C)
/// numerics gradients of operands that are read again at several places, and of parameters, are
///          sums in an order that follows from the extents alone; those of operands within a sample
/// cost     forward: one read of each operand, one write; backward: one more read and a write of
///          each operand
template <class Formula, class Chain> struct Map {
  using formula = Formula;
  using chain = Chain;
  static constexpr int operands = detail::map_operands<Formula>;
  static constexpr int parameters = detail::map_parameters<Formula>;
  static constexpr int buffers = detail::map_buffers<Formula>;
  static constexpr int count = operands + parameters;  // arguments that have derivatives
  static constexpr int arguments = count + buffers;    // of the formula
  static constexpr bool is_random = detail::is_random<Formula>;
  static constexpr int row_blocks = map_row_blocks;
  static constexpr int block_rows = 16;  // rows of a block, at least

  /// Blocks that the rows are cut into: block b begins at row rows * b / blocks.
  static int blocks_of(long rows) {
    long const blocks = (rows + block_rows - 1) / block_rows;
    return int(blocks < row_blocks ? blocks : row_blocks);
  }

  /// Where an operand is: element (n, s, c) at ((n positions + s position_step) pitch + c
  /// channel_step), with one position where the step is zero.
  template <class Storage> struct Operand {
    Storage* x = nullptr;
    int pitch = 0;          // channels of the source
    int channel_step = 1;   // 0: one number for all channels
    int position_step = 1;  // 0: one number for all positions

    PHYLLO_INLINE long place(int n, int s, int positions) const {
      return (position_step == 0 ? long(n) : long(n) * positions + s) * pitch;
    }
  };

  template <class Precision> struct Arguments {
    using storage = typename Precision::storage;
    int batch = 0, positions = 0, channels = 0;
    Operand<storage const> x[operands];
    storage const* parameter[parameters > 0 ? parameters : 1] = {};
    int parameter_step[parameters > 0 ? parameters : 1] = {};  // 0: one number for all channels
    float const* buffer[buffers > 0 ? buffers : 1] = {};
    int buffer_step[buffers > 0 ? buffers : 1] = {};  // channels; 0: the same at all positions
    Randomness noise = {};                            // of the formula
    Randomness random = {};                           // of the chain

    PHYLLO_INLINE long rows() const { return long(batch) * positions; }
    /// What the formula reads at one element.
    template <class A> PHYLLO_INLINE void read(int n, int s, int c, A* a) const {
      PHYLLO_UNROLL_ON_DEVICE
      for (int j = 0; j < operands; ++j)
        a[j] = A(x[j].x[x[j].place(n, s, positions) + long(c) * x[j].channel_step]);
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < parameters; ++k) a[operands + k] = A(parameter[k][c * parameter_step[k]]);
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < buffers; ++k) a[count + k] = A(buffer[k][s * buffer_step[k] + c]);
    }
    template <class A> PHYLLO_INLINE A noise_at(int n, int index) const {
      if constexpr (is_random)
        return A(noise_of(noise.element(n, index)));
      else
        return A(0);
    }
  };

  template <class Precision> struct Forward : Arguments<Precision> {
    using storage = typename Precision::storage;
    storage* y = nullptr;
  };

  /// With g = d_y chain'(z), z recomputed: d_x_j (+)= g df/dx_j, summed over what reads the same
  /// number, one operand after the other; d_parameter_k = sum of g df/dp_k.
  template <class Precision> struct Backward : Arguments<Precision> {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    storage const* d_y = nullptr;
    storage* d_x[operands] = {};  // placed as the operand; nullptr: not computed
    bool accumulate_gradient[operands] = {};
    accumulate* partial = nullptr;  // workspace (row_blocks, parameters, C)
    accumulate* d_parameter[parameters > 0 ? parameters : 1] = {};  // written
  };

  /// Standard normal in training; zero in inference.
  static PHYLLO_INLINE float noise_of(Element const& e) {
    return e.training ? random_normal({e.seed, e.step, e.position, e.sample, e.index}) : 0.0f;
  }
  template <class T> static PHYLLO_INLINE T value(T const* a, T noise) {
    return detail::map_value<Formula>(a, noise, detail::MapArguments<Formula>{});
  }
  template <class T> static PHYLLO_INLINE Partials<T, count> derivatives(T const* a, T noise) {
    return detail::map_derivatives<Formula>(a, noise, detail::MapArguments<Formula>{});
  }
  /// d_y chain'(z).
  template <class T> static PHYLLO_INLINE T gradient(T d_y, T z, Element const& e) {
    if constexpr (Chain::length == 0) {
      return d_y;
    } else {
      T const kept = Chain::derivative_of == Derivative::output ? Chain::value(z, e) : z;
      return d_y * Chain::derivative(kept, e);
    }
  }
};

}  // namespace op
}  // namespace phyllo::inline PHYLLO_ISA
