// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/backend/host/simd/normal_numbers.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/map.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::host {

/// Elements that a map computes together, in arrays of the type of sums: as many whole rows as fit,
/// or a part of one row. Where the storage type is that of sums, operands are read and gradients
/// are written in place.
template <class Op, class P> class MapTile {
 public:
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Arguments = typename Op::template Arguments<P>;
  static constexpr int most = 128;  // numbers of an array
  static constexpr bool is_exact = std::is_same_v<A, S>;

  PHYLLO_INLINE_ON_HOST explicit MapTile(Arguments const& work)
      : rows_at_once(work.channels < most ? most / work.channels : 1),
        span(work.channels < most ? work.channels : most),
        work_(work) {
    if constexpr (Op::is_random)
      if (work.noise.state == nullptr)
        for (A& x : noise_) x = A(0);
  }

  int const rows_at_once, span;  // rows of a tile, and channels

  /// The arguments of `count` channels from `c` on of `rows` rows from `r` on.
  PHYLLO_INLINE_ON_HOST void read(long r, int rows, int c, int count) {
    r_ = r, rows_ = rows, c_ = c, count_ = count, total_ = rows * count;
    for (int j = 0; j < Op::operands; ++j) argument_[j] = operand(j);
    if (c != parameters_from_)
      for (int k = 0; k < Op::parameters; ++k) argument_[Op::operands + k] = parameter(k);
    for (int k = 0; k < Op::buffers; ++k)
      if (c != parameters_from_ || work_.buffer_step[k] != 0) argument_[Op::count + k] = buffer(k);
    parameters_from_ = c;
    if constexpr (Op::is_random)
      if (work_.noise.state != nullptr) draw_noise();
  }

  int total() const { return total_; }

  PHYLLO_INLINE_ON_HOST void store_values(S* y) {
    S* const to = y + r_ * work_.channels + c_;
    if constexpr (is_exact) {
      values(to);
    } else {
      values(result_);
      store_numbers(result_, total_, to);
    }
  }

  /// What each element adds to the gradient of each argument: `slope`, or in place.
  PHYLLO_INLINE_ON_HOST void differentiate(S const* d_y, A* const (&slope)[Op::count]) {
    A const* d = numbers(d_y + r_ * work_.channels + c_, total_, result_);
    if constexpr (Op::chain::random) {
      inputs_of_chain(z_);
      for (int q = 0; q < rows_; ++q)
        for (int i = 0; i < count_; ++i) {
          int const at = q * count_ + i;
          z_[at] = Op::gradient(d[at], z_[at], element(work_.random, q, i));
        }
      d = z_;
    }
    slopes(d, slope);
  }

  /// Row number q of the tile in an operand, and the sample that it is of.
  PHYLLO_INLINE_ON_HOST long place(int j, int q) const {
    auto const& x = work_.x[j];
    return (x.position_step == 0 ? sample(q) : r_ + q) * x.pitch;
  }
  /// Whether an operand's numbers are stored as those of the result.
  PHYLLO_INLINE_ON_HOST bool is_contiguous(int j) const {
    auto const& x = work_.x[j];
    return x.channel_step != 0 &&
           (rows_ == 1 || (x.position_step != 0 && x.pitch == work_.channels));
  }

 private:
  using Indices = op::detail::MapArguments<typename Op::formula>;
  using Variables = op::detail::MapVariables<typename Op::formula>;

  long sample(int q) const { return (r_ + q) / work_.positions; }
  Element element(Randomness const& random, int q, int i) const {
    long const n = sample(q), s = r_ + q - n * work_.positions;
    return random.element(int(n), int(s) * work_.channels + c_ + i);
  }

  PHYLLO_INLINE_ON_HOST static A const* numbers(S const* from, int count, A* buffer) {
    if constexpr (is_exact) {
      return from;
    } else {
      widen(from, count, buffer);
      return buffer;
    }
  }
  // Vectors by hand: rows may be no longer than two of them.
  PHYLLO_INLINE_ON_HOST static void widen(S const* from, int count, A* to) {
    int i = 0;
    for (; i + lanes<A> <= count; i += lanes<A>)
      InstructionSet::store(to + i, InstructionSet::load(from + i));
    for (; i < count; ++i) to[i] = number<A>(from, i);
  }

  PHYLLO_INLINE_ON_HOST A const* operand(int j) {
    auto const& x = work_.x[j];
    if (is_contiguous(j)) return numbers(x.x + place(j, 0) + c_, total_, buffer_[j]);
    for (int q = 0; q < rows_; ++q) {
      S const* const from = x.x + place(j, q);
      A* const to = buffer_[j] + q * count_;
      if (x.channel_step != 0)
        widen(from + c_, count_, to);
      else
        for (int i = 0; i < count_; ++i) to[i] = A(from[0]);
    }
    return buffer_[j];
  }
  // Of all rows that a tile may have.
  PHYLLO_INLINE_ON_HOST A const* parameter(int k) {
    bool const per_channel = work_.parameter_step[k] != 0;
    S const* const from = work_.parameter[k] + (per_channel ? c_ : 0);
    A* const to = buffer_[Op::operands + k];
    if (per_channel && rows_at_once == 1) return numbers(from, count_, to);
    for (int q = 0; q < rows_at_once; ++q)
      for (int i = 0; i < count_; ++i) to[q * count_ + i] = A(from[per_channel ? i : 0]);
    return to;
  }
  // Per channel: of all rows that a tile may have.
  PHYLLO_INLINE_ON_HOST A const* buffer(int k) {
    float const* const from = work_.buffer[k] + c_;
    int const step = work_.buffer_step[k], rows = step != 0 ? rows_ : rows_at_once;
    A* const to = buffer_[Op::count + k];
    for (int q = 0; q < rows; ++q) {
      long const s = step != 0 ? (r_ + q) % work_.positions : 0;
      for (int i = 0; i < count_; ++i) to[q * count_ + i] = A(from[s * step + i]);
    }
    return to;
  }
  PHYLLO_INLINE_ON_HOST A noise([[maybe_unused]] int i) const {
    if constexpr (Op::is_random)
      return noise_[i];
    else
      return A(0);
  }
  PHYLLO_INLINE_ON_HOST void draw_noise() {
    NormalNumbers<most> normals;
    // Whole rows of a sample are neighbours.
    for (int q = 0, run = 0; q < rows_; q += run) {
      long const left = (sample(q) + 1) * work_.positions - (r_ + q);
      run = left < rows_ - q ? int(left) : rows_ - q;
      Element const first = element(work_.noise, q, 0);
      normals({first.seed, first.step, first.position, first.sample, first.index}, run * count_,
              noise_ + q * count_);
    }
  }

  using Pointers = A const * [Op::arguments];
  using Targets = A* const[Op::count];

  // Bodies of loops. They are calls, because GCC gives an array that a simd loop declares to each
  // lane, in memory.
  template <std::size_t... I>
  static PHYLLO_INLINE_ON_HOST A input_of_chain(Pointers const& from, A noise, int i,
                                                std::index_sequence<I...>) {
    A const a[] = {from[I][i]...};
    return Op::value(a, noise);
  }
  static PHYLLO_INLINE_ON_HOST A value(Pointers const& from, A noise, int i) {
    return Op::chain::value(input_of_chain(from, noise, i, Indices{}), Element{});
  }
  template <std::size_t... I, std::size_t... V>
  static PHYLLO_INLINE_ON_HOST void slope(Pointers const& from, A noise, A d, int i,
                                          Targets const& to, std::index_sequence<I...>,
                                          std::index_sequence<V...>) {
    A const a[] = {from[I][i]...};
    if constexpr (Op::chain::length > 0 && !Op::chain::random)
      d = Op::gradient(d, Op::value(a, noise), Element{});
    Partials<A, Op::count> const by = Op::derivatives(a, noise);
    ((to[V][i] = d * by.by[V]), ...);
  }

  PHYLLO_INLINE_ON_HOST void inputs_of_chain(A* z) {
    Pointers const& from = argument_;
    int const total = total_;
    PHYLLO_SIMD(16)
    for (int i = 0; i < total; ++i) z[i] = input_of_chain(from, noise(i), i, Indices{});
  }
  PHYLLO_INLINE_ON_HOST void values(A* z) {
    if constexpr (Op::chain::random) {
      inputs_of_chain(z);
      for (int q = 0; q < rows_; ++q)
        for (int i = 0; i < count_; ++i)
          z[q * count_ + i] = Op::chain::value(z[q * count_ + i], element(work_.random, q, i));
    } else {
      Pointers const& from = argument_;
      int const total = total_;
      PHYLLO_SIMD(16)
      for (int i = 0; i < total; ++i) z[i] = value(from, noise(i), i);
    }
  }
  PHYLLO_INLINE_ON_HOST void slopes(A const* d, Targets const& to) {
    Pointers const& from = argument_;
    int const total = total_;
    PHYLLO_SIMD(16)
    for (int i = 0; i < total; ++i) slope(from, noise(i), d[i], i, to, Indices{}, Variables{});
  }

  Arguments const& work_;
  long r_ = 0;
  int rows_ = 0, c_ = 0, count_ = 0, total_ = 0;
  int parameters_from_ = -1;  // the channel that the parameters were read from
  A const* argument_[Op::arguments] = {};
  alignas(64) A buffer_[Op::arguments][most];
  alignas(64) A noise_[Op::is_random ? most : 1];
  alignas(64) A result_[most];
  alignas(64) A z_[Op::chain::random ? most : 1];
};

}  // namespace phyllo::inline PHYLLO_ISA::host
