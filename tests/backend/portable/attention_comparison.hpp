// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/attention.hpp>
#include <phyllo/backend/portable/position.hpp>
#include <phyllo/backend/portable/product.hpp>
#include <phyllo/backend/reference/attention.hpp>
#include <phyllo/backend/reference/position.hpp>
#include <phyllo/backend/reference/product.hpp>

#include <backend/portable/comparison.hpp>

namespace phyllo::test {

struct AttentionCase {
  int batch, heads, queries, keys;
  bool causal, masked, accumulate;
};

/// Both passes of an attention, with operands that are parts of wider values.
template <int Width, class Chain, class P, template <class, class> class Kernels>
void compare_attention(AttentionCase const& c) {
  CAPTURE(Width);
  CAPTURE(c.queries);
  CAPTURE(c.keys);
  CAPTURE(c.causal);
  CAPTURE(c.masked);
  using Op = op::Attention<Width, Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  int const channels = c.heads * Width, pitch = channels + 3;
  long const rows = long(c.batch) * c.queries, key_rows = long(c.batch) * c.keys;
  auto const q = numbers<S>(rows * pitch, 1), k = numbers<S>(key_rows * pitch, 2),
             v = numbers<S>(key_rows * pitch, 3), d_y = numbers<S>(rows * pitch, 4);
  std::vector<std::int32_t> mask(std::size_t(key_rows), 0);
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask[i] = c.masked && int(i) % c.keys != 0 && i % 3 == 1 ? 1 : 0;

  typename Op::template Forward<P> forward;
  forward.shape = {c.batch, c.heads, c.queries, c.keys, c.causal, c.masked ? mask.data() : nullptr};
  forward.factor = A(0.7);
  forward.q = {q.data(), pitch};
  forward.k = {k.data() + 2, pitch};
  forward.v = {v.data() + 1, pitch};
  forward.random = {&state, 2};
  auto const place_y = [&](auto& w, S* p) { w.y = {p + 3, pitch}; };
  auto const place_sums = [](auto& w, A* p) { w.logsumexp = p; };
  long const sums = rows * c.heads;
  compare<Op, P, Kernels>(forward, bound<P>(),
                          Output<S, decltype(place_y)>{rows * pitch, Before::numbers, place_y},
                          output<A>(sums, place_sums));

  // The result and its sums as the reference has them.
  auto y = numbers<S>(rows * pitch, 99);
  Guarded<A> log_sums(sums);
  place_y(forward, y.data());
  place_sums(forward, log_sums.data());
  reference::Kernels<Op, P>::run(Space(), "", forward);
  typename Op::template Backward<P> backward;
  backward.shape = forward.shape;
  backward.factor = forward.factor;
  backward.q = forward.q;
  backward.k = forward.k;
  backward.v = forward.v;
  backward.y = {y.data() + 3, pitch};
  backward.d_y = {d_y.data(), pitch};
  backward.logsumexp = log_sums.data();
  backward.random = forward.random;
  backward.accumulate_q = backward.accumulate_k = backward.accumulate_v = c.accumulate;
  auto const place_q = [&](auto& w, S* p) { w.d_q = {p, pitch}; };
  auto const place_k = [&](auto& w, S* p) { w.d_k = {p + 1, pitch}; };
  auto const place_v = [&](auto& w, S* p) { w.d_v = {p + 2, pitch}; };
  auto const place_room = [](auto& w, A* p) { w.partial = p; };
  // Exponentials and two products follow each other.
  compare<Op, P, Kernels>(backward, 2 * bound<P>(),
                          Output<S, decltype(place_q)>{rows * pitch, Before::numbers, place_q},
                          Output<S, decltype(place_k)>{key_rows * pitch, Before::numbers, place_k},
                          Output<S, decltype(place_v)>{key_rows * pitch, Before::numbers, place_v},
                          workspace<A>(key_rows * 2 * channels, place_room));
}

/// Lengths at and around the blocks of queries and keys.
template <int Width, class Chain, class P, template <class, class> class Kernels>
void compare_attentions() {
  compare_attention<Width, Chain, P, Kernels>({2, 2, 5, 3, false, true, false});
  compare_attention<Width, Chain, P, Kernels>({1, 1, 64, 64, true, false, true});
  compare_attention<Width, Chain, P, Kernels>({1, 3, 70, 130, true, true, false});
  compare_attention<Width, Chain, P, Kernels>({1, 1, 1, 1, false, false, true});
  compare_attention<Width, Chain, P, Kernels>({2, 1, 131, 65, false, false, false});
  compare_attention<Width, Chain, P, Kernels>({1, 2, 129, 129, true, true, false});
  compare_attention<Width, Chain, P, Kernels>({0, 1, 3, 3, true, false, false});
}

template <op::PositionKind Kind, class P, template <class, class> class Kernels>
void compare_positions(int batch, int positions, int channels) {
  using Op = op::Position<Kind>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  long const size = long(positions) * channels;
  auto const x = numbers<S>(batch * size, 1), table = numbers<S>(size, 2);
  typename Op::template Forward<P> work;
  work.batch = batch;
  work.positions = positions;
  work.channels = channels;
  work.width = channels / 2;
  work.rotated = channels / 2;
  work.log_base = A(3);
  work.table = table.data();
  work.x = x.data();
  auto const place = [](auto& w, S* p) { w.y = p; };
  for (bool const backward : {false, true}) {
    work.backward = work.accumulate_y = backward;
    compare<Op, P, Kernels>(work, bound<P>(), output<S>(batch * size, backward, place));
  }
  typename Op::template BackwardParameters<P> sums;
  sums.batch = batch;
  sums.size = int(size);
  sums.d_y = x.data();
  compare<Op, P, Kernels>(sums, bound<P>(), output<A>(size, [](auto& w, A* p) { w.d_table = p; }));
}

}  // namespace phyllo::test
