// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/scan.hpp>
#include <phyllo/backend/reference/scan.hpp>
#include <phyllo/op/gru_cell.hpp>
#include <phyllo/op/lstm_cell.hpp>
#include <phyllo/op/rnn_cell.hpp>

#include <backend/portable/comparison.hpp>

namespace phyllo::test {

/// What a scan is given besides its numbers.
struct ScanCase {
  int batch = 1, times = 1;
  bool reverse = false, bias = true, initial = false, lengths = false, accumulate = false;
  int carried = 0;  // states behind h in the rows of y
};

/// Both passes of a scan by a backend against the reference.
template <class Cell, int Hidden, class P, template <class, class> class Tested>
void compare_scan(ScanCase const& c) {
  INFO(Cell::name, " hidden ", Hidden, " batch ", c.batch, " times ", c.times, " reverse ",
       c.reverse, " initial ", c.initial, " lengths ", c.lengths, " carried ", c.carried);
  using Op = op::Scan<Cell, Hidden>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  long const rows = long(c.batch) * c.times;
  static constexpr int places = 3, place = 1;  // the state is one of three side by side
  auto const weight = numbers<S>(long(Hidden) * Op::products, 1),
             bias = numbers<S>(Op::products, 2), h = numbers<S>(long(c.batch) * places * Hidden, 3),
             other = numbers<S>(long(c.batch) * places * Hidden, 4);
  std::vector<std::int32_t> lengths;
  for (int n = 0; n < c.batch; ++n) lengths.push_back(n * 5 % (c.times + 1));
  auto const common = [&](auto work) {
    work.batch = c.batch;
    work.times = c.times;
    work.reverse = c.reverse;
    if (c.lengths) work.lengths = lengths.data();
    work.weight = weight.data();
    work.carried_from = Op::states - c.carried;
    return work;
  };
  auto forward = common(typename Op::template Forward<P>{});
  if (c.bias) forward.bias = bias.data();
  S const* const initial[] = {h.data(), other.data()};
  for (int s = 0; s < Op::states && c.initial; ++s)
    forward.initial[s] = {initial[s], places * Hidden, place * Hidden, false};
  auto const x = numbers<S>(rows * Op::products, 5);
  forward.x = x.data();
  long const y_size = rows * forward.y_channels();
  auto const y = [](auto& w, S* p) { w.y = p; };
  double const tolerance = 8 * bound<P>();
  compare<Op, P, Tested>(forward, tolerance, output<S>(y_size, y));
  compare<Op, P, Tested>(
      forward, tolerance, output<S>(y_size, y),
      output<S>(rows * Op::products, true, [](auto& w, S* p) { w.x = w.keep = p; }),
      output<S>(rows * Op::more_kept * Hidden, [](auto& w, S* p) { w.keep_more = p; }),
      output<S>(rows * Hidden, [](auto& w, S* p) { w.h_before = p; }),
      output<A>(rows * Op::kept_accumulate, [](auto& w, A* p) { w.before = p; }));

  auto backward = common(typename Op::template Backward<P>{});
  auto const d_y = numbers<S>(y_size, 6), more = numbers<S>(rows * Op::more_kept * Hidden, 7),
             h_before = numbers<S>(rows * Hidden, 8);
  auto const before = numbers<A>(rows * Op::kept_accumulate, 9);
  backward.keep_more = more.data();
  backward.h_before = h_before.data();
  backward.before = before.data();
  backward.d_y = d_y.data();
  auto const d_x = output<S>(rows * Op::products, true, [](auto& w, S* p) { w.d_x = p; });
  auto const d_r = output<S>(Cell::splits_gradient ? rows * Op::products : 0,
                             [](auto& w, S* p) { w.d_r = Cell::splits_gradient ? p : nullptr; });
  auto const d_initial = [&](int s) {
    return output<S>(long(c.batch) * places * Hidden, c.accumulate, [&c, s](auto& w, S* p) {
      if (s < Op::states)
        w.d_initial[s % Op::states] = {p, places * Hidden, place * Hidden, c.accumulate};
    });
  };
  if (!c.initial)
    compare<Op, P, Tested>(backward, tolerance, d_x, d_r);
  else if constexpr (Op::states == 1)
    compare<Op, P, Tested>(backward, tolerance, d_x, d_r, d_initial(0));
  else
    compare<Op, P, Tested>(backward, tolerance, d_x, d_r, d_initial(0), d_initial(1));
}

/// Both passes of some samples: y, d_x and d_r.
template <class Cell, int Hidden, class P, template <class, class> class Tested>
std::vector<Guarded<typename P::storage>> run_scan(int batch, int times, int first,
                                                   std::int32_t const* lengths) {
  using Op = op::Scan<Cell, Hidden>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  auto const part = [&](long size, unsigned stream) {  // of samples from `first` on
    auto const all = numbers<S>((first + batch) * size, stream);
    Guarded<S> some(batch * size);
    for (long i = 0; i < some.size(); ++i) some.data()[i] = all.data()[first * size + i];
    return some;
  };
  auto const weight = numbers<S>(long(Hidden) * Op::products, 1), d_y = part(times * Hidden, 3);
  Guarded<S> y(long(batch) * times * Hidden),
      x = part(long(times) * Op::products, 2), h_before(y.size()),
      more(long(batch) * times * Op::more_kept * Hidden), d_r(Cell::splits_gradient ? x.size() : 0);
  Guarded<A> before(long(batch) * times * Op::kept_accumulate);
  Space const exec;
  typename Op::template Forward<P> forward;
  forward.batch = batch;
  forward.times = times;
  forward.lengths = lengths;
  forward.weight = weight.data();
  forward.x = forward.keep = x.data();
  forward.keep_more = more.data();
  forward.h_before = h_before.data();
  forward.before = before.data();
  forward.y = y.data();
  forward.memory = work_memory(kernel_traits<Tested<Op, P>>.thread_bytes, int(exec.concurrency()));
  Tested<Op, P>::run(exec, "backend", forward);
  typename Op::template Backward<P> backward;
  static_cast<typename Op::template Sequence<P>&>(backward) = forward;
  backward.keep_more = more.data();
  backward.h_before = h_before.data();
  backward.before = before.data();
  backward.d_y = d_y.data();
  backward.d_x = x.data();
  if (Cell::splits_gradient) backward.d_r = d_r.data();
  Tested<Op, P>::run(exec, "backend", backward);
  exec.fence("backend");
  return {y, x, d_r};
}

/// A sample's bits do not depend on its batch; lengths outside of the times make its outputs not a
/// number and its gradients zero.
template <class Cell, int Hidden, class P, template <class, class> class Tested>
void check_samples() {
  constexpr int batch = 14, times = 3;
  auto const all = run_scan<Cell, Hidden, P, Tested>(batch, times, 0, nullptr);
  std::int32_t const lengths[batch] = {3, -1, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
  auto const outside = run_scan<Cell, Hidden, P, Tested>(batch, times, 0, lengths);
  for (int n = 0; n < batch; ++n) {
    auto const alone = run_scan<Cell, Hidden, P, Tested>(1, times, n, nullptr);
    for (std::size_t k = 0; k < all.size(); ++k) {
      long const size = alone[k].size();
      auto const* const one = alone[k].data();
      auto const* const of_all = all[k].data() + n * size;
      auto const* const of_outside = outside[k].data() + n * size;
      auto const bytes = std::size_t(size) * sizeof(typename P::storage);
      CHECK(std::memcmp(one, of_all, bytes) == 0);
      bool const inside = lengths[n] == 3;
      if (inside) CHECK(std::memcmp(one, of_outside, bytes) == 0);
      for (long i = 0; i < size && !inside; ++i) {
        double const got = double(of_outside[i]);
        if (k == 0 ? !std::isnan(got) : got != 0) CHECK(i < 0);
      }
    }
  }
}

/// Batches around tiles, times from one on, every option.
template <class Cell, int Hidden, class P, template <class, class> class Tested>
void compare_scans() {
  int k = 0;
  for (int const batch : {0, 2, 13})
    for (int const times : {1, 2, 4}) {
      ++k;
      compare_scan<Cell, Hidden, P, Tested>({.batch = batch,
                                             .times = times,
                                             .reverse = k % 2 == 0,
                                             .bias = k % 5 != 0,
                                             .initial = k % 3 != 0,
                                             .lengths = k % 4 > 1,
                                             .accumulate = k % 6 > 3,
                                             .carried = k % (Cell::states + 1)});
    }
}
/// Units less than a vector, a few more than one or two, and a multiple.
template <class P, template <class, class> class Tested> void compare_cells() {
  check_samples<op::LSTMCell, 19, P, Tested>();
  check_samples<op::GRUCell, 5, P, Tested>();
  compare_scans<op::LSTMCell, 19, P, Tested>();
  compare_scans<op::GRUCell, 5, P, Tested>();
  compare_scans<op::RNNCell<Activation::rectifier>, 16, P, Tested>();
  PHYLLO_IN_VERIFY(compare_scans<op::LSTMCell, 64, P, Tested>();
                   compare_scans<op::GRUCell, 33, P, Tested>();
                   compare_scans<op::RNNCell<Activation::hyperbolic_tangent>, 70, P, Tested>();)
}

}  // namespace phyllo::test
