// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Segments and whole steps tile by tile against plain loops: widths at and around vectors and
// panels, batches around tiles, the caller's Views of every kind.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/backend/reference/segment.hpp>
#include <phyllo/backend/thread_memory.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/policy/precision.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;

template <class T> std::vector<T> numbers(long count, unsigned seed) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = T(2 * random_uniform(seed, 0, 0, i, 0) - 1);
  return v;
}

// Layers l = 0, 1, ...: weight (in, out), then bias, each tensor as close behind the last as it can
// be, so that a kernel that reads or writes beyond one meets the next.
template <class Segment> struct Arena;
template <class... D> struct Arena<op::Segment<D...>> {
  static constexpr int size = ((D::inputs * D::outputs + (D::bias ? D::outputs : 0)) + ...);
  template <class Work> static void place(Work& work) {
    int at = 0, l = 0;
    auto const one = [&]<class Dense>() {
      work.weight[l] = at;
      at += Dense::inputs * Dense::outputs;
      work.bias[l] = Dense::bias ? at : -1;
      at += Dense::bias ? Dense::outputs : 0;
      work.position[l] = 2 * l;
      ++l;
    };
    (one.template operator()<D>(), ...);
  }
  static constexpr int inputs[] = {D::inputs...};
  static constexpr int outputs[] = {D::outputs...};
  static constexpr int first = inputs[0];
  static constexpr int last = outputs[sizeof...(D) - 1];
};

template <class T> ExternalTensor rows_of(std::vector<T> const& v, ElementType type, int channels) {
  ExternalTensor t;
  t.data[0] = const_cast<T*>(v.data());
  t.type = type;
  t.sample_stride = channels;
  t.channel_stride = 1;
  return t;
}

template <class S>
inline constexpr ElementType type_of = std::is_same_v<S, double>  ? ElementType::f64
                                       : std::is_same_v<S, float> ? ElementType::f32
                                       : std::is_same_v<S, fp16>  ? ElementType::f16
                                                                  : ElementType::bf16;

// Norm of the difference, relative; a not-a-number stays.
template <class A, class B>
double distance(std::vector<A> const& expected, std::vector<B> const& got) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = double(expected[i]), d = double(got[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return norm == 0 ? difference : std::sqrt(difference / norm);
}

// A few roundings of sums, and in 16 bits of every layer's values.
template <class P>
inline constexpr double bound = std::is_same_v<typename P::storage, double>  ? 1e-14
                                : std::is_same_v<typename P::storage, float> ? 4e-6
                                : std::is_same_v<typename P::storage, fp16>  ? 3e-3
                                                                             : 2e-2;

// Inference, with work memory that is full of not-a-numbers.
template <class Segment, class P>
void run(Space const& exec, typename Segment::template Forward<P> work,
         ExternalTensor const& source, ExternalTensor const& target) {
  using Kernels = host::Kernels<Segment, P>;
  ThreadMemory<Space> const memory(exec, "memory", exec.concurrency(),
                                   kernel_traits<Kernels>.thread_bytes);
  work.memory = memory.memory();
  for (int i = 0; i < work.memory.slices; ++i)
    std::memset(static_cast<void*>(work.memory.slice(i)), 0xff,
                std::size_t(kernel_traits<Kernels>.thread_bytes));
  Kernels::run(exec, "openmp", work, source, target);
}

template <class Segment, class P> void compare_forward(int batch, bool training) {
  using S = typename P::storage;
  using A = Arena<Segment>;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  auto const x = numbers<S>(long(batch) * A::first, 1), p = numbers<S>(A::size, 2);
  std::vector<S> expected(std::size_t(batch) * A::last, S(std::nanf("")));
  typename Segment::template Forward<P> work;
  A::place(work);
  work.batch = batch;
  work.x = x.data();
  work.y = expected.data();
  work.parameters = p.data();
  work.random = {training ? &state : nullptr, 5};
  Space const exec;
  reference::Kernels<Segment, P>::run(exec, "reference", work);
  // Inputs as doubles, one channel after the other; outputs with a gap behind every sample.
  std::vector<double> columns(x.size());
  for (int n = 0; n < batch; ++n)
    for (int c = 0; c < A::first; ++c)
      columns[std::size_t(c) * std::size_t(batch) + std::size_t(n)] =
          double(x[std::size_t(n) * A::first + std::size_t(c)]);
  ExternalTensor source = rows_of(columns, ElementType::f64, 1);
  source.sample_stride = 1;
  source.channel_stride = batch;
  std::vector<double> gapped(std::size_t(batch) * (A::last + 1), 7.0);
  ExternalTensor const target = rows_of(gapped, ElementType::f64, A::last + 1);
  run<Segment, P>(exec, work, source, target);
  exec.fence("segment");
  std::vector<S> got(expected.size());
  for (int n = 0; n < batch; ++n) {
    for (int c = 0; c < A::last; ++c)
      got[std::size_t(n * A::last + c)] = S(gapped[std::size_t(n * (A::last + 1) + c)]);
    CHECK(gapped[std::size_t(n * (A::last + 1) + A::last)] == 7.0);
  }
  CHECK(distance(expected, got) <= bound<P>);

  // Rows side by side, in memory of their own and in that of their inputs; a row more behind them.
  int const more = A::first > A::last ? A::first : A::last;
  for (bool const shares : {false, true}) {
    if (shares && A::first != A::last) continue;
    std::vector<S> in = x, out(std::size_t(batch) * A::last + std::size_t(more), S(7.0f));
    in.insert(in.end(), std::size_t(more), S(7.0f));
    run<Segment, P>(exec, work, rows_of(in, type_of<S>, A::first),
                    rows_of(shares ? in : out, type_of<S>, A::last));
    exec.fence("segment");
    std::vector<S> const& written = shares ? in : out;
    int different = 0;
    for (std::size_t i = 0; i < written.size(); ++i)
      different += double(written[i]) != (i < got.size() ? double(got[i]) : 7.0);
    CHECK(different == 0);
  }
}

template <class Sum> struct StepResults {
  std::vector<Sum> gradients, values, correct;
};

// A whole step of backend openmp, or of the reference, in its own precision.
template <class Segment, class L, class P, bool IsReference> auto step(int batch) {
  using Op = op::WholeStep<Segment, L>;
  using S = typename P::storage;
  using Sum = typename P::accumulate;
  using A = Arena<Segment>;
  using Kernels = std::conditional_t<IsReference, reference::Kernels<Op, P>, host::Kernels<Op, P>>;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11, .loss_scale = 64};
  // The same numbers in float and in double.
  using Drawn = std::conditional_t<(sizeof(S) > 4), float, S>;
  auto const drawn_x = numbers<Drawn>(long(batch) * A::first, 1),
             drawn_p = numbers<Drawn>(A::size, 2);
  std::vector<S> const x(drawn_x.begin(), drawn_x.end()), p(drawn_p.begin(), drawn_p.end());
  std::vector<double> wanted(std::size_t(batch) * A::last);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = L::classes ? double(i % A::last) : double(random_uniform(3, 0, 0, i, 0));
  constexpr int rows = 20;
  constexpr Sum none = std::numeric_limits<Sum>::quiet_NaN();
  StepResults<Sum> results{std::vector<Sum>(A::size, none),
                           std::vector<Sum>(std::size_t(batch), none),
                           std::vector<Sum>(std::size_t(batch), none)};
  std::vector<Sum> partial(std::size_t(rows) * A::size, none);
  constexpr long of_thread = kernel_traits<Kernels>.thread_bytes;
  Kokkos::View<std::byte*, Kokkos::HostSpace> workspace("workspace", std::size_t(rows * of_thread));
  Kokkos::deep_copy(workspace, std::byte(0xff));  // not-a-numbers
  typename Op::template Run<P> work;
  A::place(work.forward);
  work.forward.batch = batch;
  work.forward.x = x.data();
  work.forward.parameters = p.data();
  work.forward.random = {&state, 5};
  work.forward.memory = {workspace.data(), int(of_thread / op::WorkMemory::line), rows};
  work.weight = 0.5f;
  work.targets = rows_of(wanted, ElementType::f64, A::last);
  work.state = &state;
  work.parameter_count = A::size;
  work.rows = rows;
  work.partial = partial.data();
  work.gradients = results.gradients.data();
  work.values = results.values.data();
  work.correct = results.correct.data();
  Space const exec;
  if constexpr (IsReference)
    Kernels::run(exec, "reference", work);
  else
    Kernels::run(exec, "openmp", work, rows_of(x, type_of<S>, A::first));
  exec.fence("whole step");
  return results;
}

// Against the reference; in float, a kernel may differ by more if it is nearer to the reference in
// double: of a sample whose gradient is a small difference, the one in float has lost digits.
template <class Segment, class L, class P> void compare_step(int batch) {
  auto const expected = step<Segment, L, P, true>(batch), got = step<Segment, L, P, false>(batch);
  double const off = distance(expected.gradients, got.gradients);
  if (std::is_same_v<P, Full<float>> && off > bound<P>) {
    auto const exact = step<Segment, L, Full<double>, true>(batch);
    CAPTURE(off);
    CHECK(distance(exact.gradients, got.gradients) < distance(exact.gradients, expected.gradients));
  } else {
    CHECK(off <= bound<P>);
  }
  CHECK(distance(expected.values, got.values) <= bound<P>);
  // A tie may fall to either side where the outputs are rounded.
  if (sizeof(typename P::storage) > 2) CHECK(expected.correct == got.correct);
}

template <class Segment, class P> void compare() {
  for (int const batch : {0, 1, 2, 3, 6, 11, 12, 47, 48, 49, 50, 96, 331}) {
    CAPTURE(batch);
    compare_forward<Segment, P>(batch, false);
    compare_forward<Segment, P>(batch, true);
    compare_step<Segment, MeanSquaredError, P>(batch);
    compare_step<Segment, CrossEntropy, P>(batch);
  }
}

template <int In, int Out, bool Bias, class... C>
using Dense = op::Dense<In, Out, Bias, op::Chain<C...>>;

using Odd = op::Segment<Dense<7, 17, true, Tanh>, Dense<17, 16, false>,
                        Dense<16, 33, true, GELU, Dropout<0.2>>, Dense<33, 3, true, ReLU>>;
using Panels = op::Segment<Dense<31, 100, true, ReLU>, Dense<100, 128, true, Tanh>,
                           Dense<128, 65, false, ReLU>, Dense<65, 9, true>>;
using Narrow = op::Segment<Dense<1, 2, true, Tanh>, Dense<2, 1, true>, Dense<1, 8, false, GELU>,
                           Dense<8, 15, true, Tanh>>;
using Lone = op::Segment<Dense<32, 32, true>>;
using Even = op::Segment<Dense<16, 64, true, ReLU>, Dense<64, 64, true, ReLU>, Dense<64, 16, true>>;

// Results of a segment, from numbers of one type side by side, one channel after the other or one
// variable a channel, into numbers of another.
template <class P, class In, class Out>
std::vector<double> results(ElementType in, ElementType out, int layout) {
  using A = Arena<Odd>;
  constexpr int batch = 70;
  auto const p = numbers<typename P::storage>(A::size, 2);
  std::vector<In> x(batch * A::first);
  std::vector<Out> y(batch * A::last, Out(0.0f));
  ExternalTensor source = rows_of(x, in, A::first), target = rows_of(y, out, A::last);
  if (layout > 0) {
    source.sample_stride = target.sample_stride = 1;
    source.channel_stride = target.channel_stride = batch;
  }
  if (layout > 1) {
    source.variables = A::first;
    target.variables = A::last;
    for (int c = 0; c < A::first; ++c) source.data[c] = x.data() + c * batch;
    for (int c = 0; c < A::last; ++c) target.data[c] = y.data() + c * batch;
  }
  for (int n = 0; n < batch; ++n)
    for (int c = 0; c < A::first; ++c)  // whole numbers: every type has them
      x[std::size_t(layout > 0 ? c * batch + n : n * A::first + c)] =
          In(float((n * 5 + c * 3) % 4));
  typename Odd::template Forward<P> work;
  A::place(work);
  work.batch = batch;
  work.parameters = p.data();
  Space const exec;
  run<Odd, P>(exec, work, source, target);
  exec.fence("transfers");
  std::vector<double> got;
  for (int n = 0; n < batch; ++n)
    for (int c = 0; c < A::last; ++c)
      got.push_back(double(y[std::size_t(layout > 0 ? c * batch + n : n * A::last + c)]));
  return got;
}

}  // namespace

TEST_CASE_TEMPLATE("openmp: the caller's element types and layouts", P, Full<float>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<double>, Mixed<fp16, float>)) {
  using E = ElementType;
  auto const expected = results<P, double, double>(E::f64, E::f64, 0);
  double largest = 0;
  for (double const e : expected) largest = std::max(largest, std::fabs(e));
  CHECK(largest > 0.1);
  auto const rounded = [&]<class T>(T) {
    std::vector<double> r;
    for (double const e : expected) r.push_back(double(T(e)));
    return r;
  };
  for (int const layout : {0, 1, 2}) {
    CAPTURE(layout);
    CHECK(results<P, double, double>(E::f64, E::f64, layout) == expected);
    CHECK(results<P, float, double>(E::f32, E::f64, layout) == expected);
    CHECK(results<P, bf16, double>(E::bf16, E::f64, layout) == expected);
    CHECK(results<P, fp16, double>(E::f16, E::f64, layout) == expected);
    CHECK(results<P, std::int64_t, double>(E::i64, E::f64, layout) == expected);
    CHECK(results<P, std::int32_t, double>(E::i32, E::f64, layout) == expected);
    CHECK(results<P, std::uint8_t, double>(E::u8, E::f64, layout) == expected);
    CHECK(results<P, double, float>(E::f64, E::f32, layout) == rounded(float()));
    CHECK(results<P, double, bf16>(E::f64, E::bf16, layout) == rounded(bf16()));
    CHECK(results<P, double, fp16>(E::f64, E::f16, layout) == rounded(fp16()));
  }
}

TEST_CASE_TEMPLATE("openmp: an infinity stays with its sample", P, Full<float>,
                   Mixed<bf16, float>) {
  using S = typename P::storage;
  using A = Arena<Odd>;
  constexpr int batch = 200;
  auto x = numbers<S>(long(batch) * A::first, 1);
  auto const p = numbers<S>(A::size, 2);
  typename Odd::template Forward<P> work;
  A::place(work);
  work.batch = batch;
  work.parameters = p.data();
  std::vector<float> y[2];
  for (auto& result : y) {
    result.assign(batch * A::last, 0.0f);
    Space const exec;
    run<Odd, P>(exec, work, rows_of(x, type_of<S>, A::first),
                rows_of(result, ElementType::f32, A::last));
    exec.fence("infinity");
    x[std::size_t(70 * A::first + 3)] = S(INFINITY);
  }
  // Its tanh is finite, and so is the sample's result; the others' bits are as before.
  for (int n = 0; n < batch; ++n)
    for (int c = 0; c < A::last; ++c) {
      auto const at = std::size_t(n * A::last + c);
      CHECK(std::isfinite(y[1][at]));
      if (n != 70) CHECK(y[0][at] == y[1][at]);
    }
}

TEST_CASE_TEMPLATE("openmp: segments of odd widths", P, Full<double>, Full<float>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Mixed<fp16, float>)) {
  compare<Odd, P>();
}
TEST_CASE_TEMPLATE("openmp: segments of several panels", P,
                   Full<float> PHYLLO_IN_VERIFY(, Full<double>)) {
  compare<Panels, P>();
}
TEST_CASE_TEMPLATE("openmp: segments narrower than a vector", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare<Narrow, P>();
}
TEST_CASE_TEMPLATE("openmp: segments of whole vectors", P, Full<float>, Mixed<bf16, float>) {
  compare<Even, P>();
  compare<Lone, P>();
}

#endif
