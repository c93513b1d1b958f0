// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The loop over elements [first, last) of a batch, sample by sample. Within one, the name of a
/// random number changes in its index alone, so that the generator becomes vectors.
template <class Functor> struct RandomElements {
  Functor const& functor;  // functor(place in the batch, its Element)

  void run(Randomness const& random, long first, long last, int size) const {
    while (first < last) {
      long const n = first / size, begin = n * size;
      long const end = begin + size < last ? begin + size : last;
      Element const e = random.element(int(n), 0);
      if (e.training)
        sample<true>(e, begin, int(first - begin), int(end - begin));
      else
        sample<false>(e, begin, int(first - begin), int(end - begin));
      first = end;
    }
  }

 private:
  template <bool Training> void sample(Element const& e, long begin, int first, int last) const {
    auto const seed = e.seed, step = e.step, number = e.sample;
    auto const position = e.position, channels = e.channels;
    PHYLLO_SIMD(16)
    for (int i = first; i < last; ++i)
      one<Training>(seed, step, number, position, channels, begin, i);
  }
  // A call: GCC would give an Element that the simd loop declares to each lane, in memory.
  template <bool Training>
  PHYLLO_INLINE_ON_HOST void one(std::uint64_t seed, std::uint64_t step, std::uint64_t sample,
                                 std::uint32_t position, std::uint32_t channels, long begin,
                                 int i) const {
    functor(begin, i, Element{seed, step, sample, position, std::uint32_t(i), Training, channels});
  }
};

/// One piece: some elements.
template <class Chain, class P> struct random_pointwise_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pointwise<Chain>::template Forward<P> work;
  int pieces;

  void operator()(int piece) const {
    long const all = long(work.batch) * work.size;
    RandomElements<random_pointwise_forward>{*this}.run(work.random, all * piece / pieces,
                                                        all * (piece + 1) / pieces, work.size);
  }
  PHYLLO_INLINE_ON_HOST void operator()(long begin, int i, Element const& e) const {
    store_number(Chain::value(number<A>(work.x + begin, i), e), work.y + begin, i);
  }
};

template <class Chain, class P> struct random_pointwise_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pointwise<Chain>::template Backward<P> work;
  int pieces;

  void operator()(int piece) const {
    long const all = long(work.batch) * work.size;
    RandomElements<random_pointwise_backward>{*this}.run(work.random, all * piece / pieces,
                                                         all * (piece + 1) / pieces, work.size);
  }
  PHYLLO_INLINE_ON_HOST void operator()(long begin, int i, Element const& e) const {
    A kept = 0;
    if constexpr (Chain::derivative_of != Derivative::nothing)
      kept = number<A>(work.saved + begin, i);
    A d = number<A>(work.d_y + begin, i) * Chain::derivative(kept, e);
    if (work.accumulate) d += number<A>(work.d_x + begin, i);
    store_number(d, work.d_x + begin, i);
  }
};

/// Chains with random numbers; others are a loop over all elements, as on every backend.
template <class Chain, class P>
  requires Chain::random
struct Kernels<op::Pointwise<Chain>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pointwise<Chain>::template Forward<P> const& work) {
    launch_pieces(exec, label, random_pointwise_forward<Chain, P>{work, 1});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pointwise<Chain>::template Backward<P> const& work) {
    launch_pieces(exec, label, random_pointwise_backward<Chain, P>{work, 1});
  }

 private:
  template <class Space, class Functor>
  static void launch_pieces(Space const& exec, std::string const& label, Functor f) {
    constexpr long worth_a_thread = 2048;  // numbers
    long const count = long(f.work.batch) * f.work.size / worth_a_thread;
    if (f.work.batch == 0) return;
    f.pieces = count < 1 ? 1 : count < exec.concurrency() ? int(count) : exec.concurrency();
    launch(exec, label, f.pieces, f);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
