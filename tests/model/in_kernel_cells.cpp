// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls inside kernels for several cells at once against calls cell by cell.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <type_traits>

using namespace phyllo;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Field = Kokkos::View<float*, Host>;

// clang-format off
struct Closure : Network<Input<5>, Linear<33>, Tanh, Linear<32>, GELU, Linear<3>> {};
struct OneNumber : Network<Input<1>, Linear<7, Bias<false>>, Sigmoid, Linear<1>> {};
struct Everything : Network<Input<6>, Linear<25>, BatchNorm<>, ReLU, Residual<Linear<25>, Tanh>, BatchNorm<>,
                            Branch<Path<Linear<3>>, Path<>, Path<Tanh>>, Dropout<0.5>, Linear<4>, Softmax> {};
// Positions: cell by cell.
struct Images : Network<Input<1, 3, 4>, Conv2d<2, KernelSize<2>>, Tanh, Flatten, Linear<2>> {};
// One position under windows of more taps, of which one or none is inside.
struct OnePosition : Network<Input<3, 1>, Conv1d<4, Padding<1>>, Tanh, AveragePool1d<2, Stride<2>, Padding<1>>, Conv1d<2, KernelSize<1>, Stride<3>, Padding<1>>,
                             Flatten, Linear<2>> {};
// A cell's state in, state out, in both directions of a bidirectional layer of one time.
struct h;
struct c;
struct x;
struct h_next;
struct c_next;
struct LstmCell : Network<NamedInput<h, 10>, NamedInput<c, 10>, NamedInput<x, 4>,
                          LSTM<5, Bidirectional, InitialState<h, c>, FinalState<h_next, c_next>>, Linear<2>, Output<x>, From<h_next>,
                          Output<h>, From<c_next>, Output<c>> {};
struct GruCell : Network<NamedInput<h, 19>, NamedInput<x, 4>, GRU<19, InitialState<h>>, Output<h>> {};
// clang-format on

template <class Net, class P, int N> struct Compare {
  static constexpr int in = Net::input.size(), out = Net::output.size();
  InKernel<Net, P> closure;
  Kokkos::View<float**, Kokkos::LayoutLeft, Host> x;   // (cells, in)
  Kokkos::View<double**, Kokkos::LayoutLeft, Host> d;  // (cells, out): differences
  Kokkos::View<double**, Kokkos::LayoutLeft, Host> y;
  int count;

  void operator()(int tile) const {
    long const first = long(tile) * N;
    Cells<float, in, N> cells;
    for (int v = 0; v < in; ++v) cells.load(v, Kokkos::subview(x, Kokkos::ALL, v), first, count);
    auto const result = closure(cells);
    static_assert(std::is_same_v<decltype(result), Cells<typename P::accumulate, out, N> const>);
    for (int o = 0; o < out; ++o) result.store(o, Kokkos::subview(y, Kokkos::ALL, o), first, count);
    for (long n = first; n < first + N && n < count; ++n) {
      auto const one = closure(Kokkos::subview(x, n, Kokkos::ALL));
      for (int o = 0; o < out; ++o) d(n, o) = y(n, o) - double(one[o]);
    }
  }
};

template <class Net, class P, int N> void compare() {
  CAPTURE(N);
  Host const exec;
  Model<Net, P, Execution<Host>> model(exec, {.batch = 1, .seed = 3});
  exec.fence("model");
  for (std::size_t i = 0; i < model.buffers().size(); ++i)
    model.buffers()(i) = 1 + 0.5f * random_uniform(1, 0, 0, i, 0);
  for (std::size_t i = 0; i < model.parameters().size(); ++i)
    model.parameters()(i) =
        typename P::storage(float(model.parameters()(i)) + 0.1f * random_uniform(2, 0, 0, i, 0));
  constexpr int count = 5 * N + 3;
  using C = Compare<Net, P, N>;
  C const check{model.in_kernel(), decltype(C::x)("x", count, std::size_t(C::in)),
                decltype(C::d)("d", count, std::size_t(C::out)),
                decltype(C::y)("y", count, std::size_t(C::out)), count};
  for (std::size_t i = 0; i < check.x.size(); ++i)
    check.x.data()[i] = 4 * random_uniform(4, 0, 0, i, 0) - 2;
  Kokkos::deep_copy(check.y, NAN);
  Kokkos::parallel_for("cells", Kokkos::RangePolicy<Host>(exec, 0, (count + N - 1) / N), check);
  exec.fence("cells");
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < check.y.size(); ++i) {
    difference += check.d.data()[i] * check.d.data()[i];
    norm += check.y.data()[i] * check.y.data()[i];
  }
  constexpr double bound = std::is_same_v<typename P::storage, double>  ? 1e-14
                           : std::is_same_v<typename P::storage, float> ? 1e-6
                                                                        : 1e-2;
  CHECK(norm > 0);
  CHECK(std::sqrt(difference) <= bound * std::sqrt(norm));
}

}  // namespace

TEST_CASE_TEMPLATE("in_kernel: several cells at once", P, Full<float>, Full<double>,
                   Mixed<bf16, float>) {
  compare<Closure, P, InKernel<Closure, P>::cells>();
  compare<Closure, P, 2 * InKernel<Closure, P>::cells>();
  compare<Closure, P, 5>();
  compare<OneNumber, P, InKernel<OneNumber, P>::cells>();
  compare<Everything, P, InKernel<Everything, P>::cells>();
  compare<Images, P, 4>();
  static_assert(!InKernel<Images, P>::in_lanes);
  compare<OnePosition, P, InKernel<OnePosition, P>::cells>();
}

namespace {

// Numbers of cell n, the same for one thread and for lanes.
float state_of(int variable, int n) {
  return random_uniform(5, 0, unsigned(variable), n, 0) - 0.5f;
}
template <int Count, int N> Cells<float, Count, N> cells_of(int first_variable) {
  Cells<float, Count, N> all;
  for (int v = 0; v < Count; ++v)
    for (int n = 0; n < N; ++n) all(v, n) = state_of(first_variable + v, n);
  return all;
}
template <int Count> Kokkos::Array<float, Count> numbers_of(int first_variable, int n) {
  Kokkos::Array<float, Count> all;
  for (int v = 0; v < Count; ++v) all[std::size_t(v)] = state_of(first_variable + v, n);
  return all;
}
template <class Lanes, class One> void check_cell(Lanes const& lanes, One const& one, int n) {
  for (int v = 0; v < lanes.variables(); ++v)
    CHECK(double(lanes(v, n)) == doctest::Approx(double(one[v])).epsilon(1e-5));
}

}  // namespace

TEST_CASE("Cells: fields of storage types, and atomic ones") {
  Cells<float, 1, 4> cells;
  for (int i = 0; i < 4; ++i) cells(0, i) = 0.1f * float(i + 1);
  Kokkos::View<bf16*, Host> const rounded("rounded", 6);
  Kokkos::View<float*, Host, Kokkos::MemoryTraits<Kokkos::Atomic>> const atomic("atomic", 6);
  cells.store(0, rounded, 2, 5);
  cells.store(0, atomic, 2, 6);
  Cells<float, 1, 4> read, read_atomic;
  read.load(0, rounded, 2, 6);
  read_atomic.load(0, atomic, 2, 6);
  for (int i = 0; i < 4; ++i) {
    CHECK(read(0, i) == (i < 3 ? float(bf16(cells(0, i))) : 0.0f));
    CHECK(read_atomic(0, i) == cells(0, i));
  }
}

TEST_CASE("in_kernel: cells of recurrent networks, several inputs and outputs") {
  Host const exec;
  Model<LstmCell, Full<float>, Execution<Host>> const lstm(exec, {.batch = 1, .seed = 3});
  Model<GruCell, Full<float>, Execution<Host>> const gru(exec, {.batch = 1, .seed = 3});
  exec.fence("models");
  auto const of_lstm = lstm.in_kernel();
  auto const of_gru = gru.in_kernel();
  using Closure = std::decay_t<decltype(of_lstm)>;
  static_assert(PHYLLO_VECTOR_BYTES == 0 || Closure::in_lanes);
  constexpr int N = 2 * Closure::cells;
  auto const y = of_lstm(cells_of<10, N>(0), cells_of<10, N>(10), cells_of<4, N>(20));
  auto const g = of_gru(cells_of<19, N>(0), cells_of<4, N>(20));
  for (int n = 0; n < N; ++n) {
    auto const one = of_lstm(numbers_of<10>(0, n), numbers_of<10>(10, n), numbers_of<4>(20, n));
    check_cell(y.get<x>(), one.get<x>(), n);
    check_cell(y.get<h>(), one.get<h>(), n);
    check_cell(y.get<c>(), one.get<c>(), n);
    check_cell(g, of_gru(numbers_of<19>(0, n), numbers_of<4>(20, n)), n);
  }
}
