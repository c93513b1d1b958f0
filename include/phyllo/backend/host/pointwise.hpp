// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/add.hpp>
#include <phyllo/op/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The loop over elements [first, last) of a batch: all in one where they differ in nothing but
/// their place, sample by sample where numbers are random. Within a sample, the name of a random
/// number changes in its index alone, so that the generator becomes vectors.
///
/// options  Option: what Functor::option() is, asked once: at -O2 GCC leaves a question in the
///          loop, which then does not become vectors
template <class Functor, bool Option> struct ElementLoop {
  Functor const& functor;  // element<Option>(first place, place from there, Element)

  void run(long first, long last) const {
    constexpr long at_once = 1L << 30;  // places from the first one are int
    for (; first < last; first += at_once) {
      int const count = int(last - first < at_once ? last - first : at_once);
      PHYLLO_SIMD(16)
      for (int i = 0; i < count; ++i) functor.template element<Option>(first, i, Element{});
    }
  }
  void run_random(Randomness const& random, long first, long last, int size) const {
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
    functor.template element<Option>(
        begin, i, Element{seed, step, sample, position, std::uint32_t(i), Training, channels});
  }
};

/// One of some pieces of a pass over all elements. Derived: work, option() and what is done with an
/// element.
template <class Derived, class Chain> struct ElementPiece {
  int pieces = 1;

  void operator()(int piece) const {
    auto const& derived = static_cast<Derived const&>(*this);
    if (derived.option())
      run<true>(derived, piece);
    else
      run<false>(derived, piece);
  }

 private:
  template <bool Option> void run(Derived const& derived, int piece) const {
    auto const& work = derived.work;
    long const all = long(work.batch) * work.size;
    long const first = all * piece / pieces, last = all * (piece + 1) / pieces;
    ElementLoop<Derived, Option> const loop{derived};
    if constexpr (Chain::random)
      loop.run_random(work.random, first, last, work.size);
    else
      loop.run(first, last);
  }
};

template <class Chain, class P>
struct pointwise_forward : ElementPiece<pointwise_forward<Chain, P>, Chain> {
  using A = typename P::accumulate;
  typename op::Pointwise<Chain>::template Forward<P> work;

  static constexpr bool option() { return false; }
  template <bool> PHYLLO_INLINE_ON_HOST void element(long begin, int i, Element const& e) const {
    store_number(Chain::value(number<A>(work.x + begin, i), e), work.y + begin, i);
  }
};

template <class Chain, class P>
struct pointwise_backward : ElementPiece<pointwise_backward<Chain, P>, Chain> {
  using A = typename P::accumulate;
  typename op::Pointwise<Chain>::template Backward<P> work;

  bool option() const { return work.accumulate; }
  template <bool Accumulates>
  PHYLLO_INLINE_ON_HOST void element(long begin, int i, Element const& e) const {
    A kept = 0;
    if constexpr (Chain::derivative_of != Derivative::nothing)
      kept = number<A>(work.saved + begin, i);
    A d = number<A>(work.d_y + begin, i) * Chain::derivative(kept, e);
    if constexpr (Accumulates) d += number<A>(work.d_x + begin, i);
    store_number(d, work.d_x + begin, i);
  }
};

template <class Chain, class P> struct add_forward : ElementPiece<add_forward<Chain, P>, Chain> {
  using A = typename P::accumulate;
  typename op::Add<Chain>::template Forward<P> work;

  bool option() const { return work.saved != nullptr; }
  template <bool Saves>
  PHYLLO_INLINE_ON_HOST void element(long begin, int i, Element const& e) const {
    A const sum = number<A>(work.a + begin, i) + number<A>(work.b + begin, i);
    if constexpr (Saves) store_number(sum, work.saved + begin, i);
    store_number(Chain::value(sum, e), work.y + begin, i);
  }
};

template <class Functor, class Space, class Work>
void launch_elements(Space const& exec, std::string const& label, Work const& work) {
  constexpr long worth_a_thread = 2048;  // numbers
  long const count = long(work.batch) * work.size / worth_a_thread;
  if (work.batch == 0) return;
  Functor f;
  f.work = work;
  f.pieces = count < 1 ? 1 : count < exec.concurrency() ? int(count) : exec.concurrency();
  launch(exec, label, f.pieces, f);
}

template <class Chain, class P> struct Kernels<op::Pointwise<Chain>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pointwise<Chain>::template Forward<P> const& work) {
    launch_elements<pointwise_forward<Chain, P>>(exec, label, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pointwise<Chain>::template Backward<P> const& work) {
    launch_elements<pointwise_backward<Chain, P>>(exec, label, work);
  }
};

template <class Chain, class P> struct Kernels<op::Add<Chain>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Add<Chain>::template Forward<P> const& work) {
    launch_elements<add_forward<Chain, P>>(exec, label, work);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
