// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's kernel over 10^6 cells that calls the network, one View per variable: for as many cells
// at once as a vector has lanes, and for each cell alone.

#include "cases.hpp"

namespace {

using namespace perf;
using Field = Kokkos::View<float*, Kokkos::HostSpace>;
constexpr int cells = 1000000, variables = 24, rates = 8;

struct Fields {
  Field in[variables];
  Field out[rates];
};

template <class Closure> struct Advance {
  Closure closure;
  Fields fields;
  void operator()(int cell) const {
    Kokkos::Array<float, variables> state;
    for (int v = 0; v < variables; ++v) state[std::size_t(v)] = fields.in[v](cell);
    auto const y = closure(state);
    for (int r = 0; r < rates; ++r) fields.out[r](cell) = y[r];
  }
};

template <class Closure> struct AdvanceCells {
  static constexpr int at_once = Closure::cells;
  Closure closure;
  Fields fields;
  void operator()(int tile) const {
    long const first = long(tile) * at_once;
    Cells<float, variables, at_once> state;
    for (int v = 0; v < variables; ++v) state.load(v, fields.in[v], first, cells);
    auto const y = closure(state);
    for (int r = 0; r < rates; ++r) y.store(r, fields.out[r], first, cells);
  }
};

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision(argc, argv, []<class P>(std::string const& dtype) {
    auto const c = measure_ceilings(Space().concurrency());
    struct State {
      Space exec;
      Model<CellSurrogate, P, Execution<Space>> model{exec, {.batch = 64, .seed = 1}};
      Fields fields;
    };
    auto const state = std::make_shared<State>();
    unsigned seed = 0;
    for (Field& f : state->fields.in) {
      f = Field("in", cells);
      ++seed;
      for (std::size_t i = 0; i < cells; ++i)
        f(i) = float(2 * random_uniform(seed, 0, 0, i, 0) - 1);
    }
    for (Field& f : state->fields.out) f = Field("out", cells);
    constexpr int checked = 64;
    Matrix<double> x("x", checked, variables), expected("expected", checked, rates);
    for (std::size_t n = 0; n < checked; ++n)
      for (std::size_t v = 0; v < variables; ++v) x(n, v) = double(state->fields.in[v](n));
    Model<CellSurrogate, Full<double>, Reference> truth(state->exec, {.batch = checked});
    copy_parameters(state->model.parameters(), truth.parameters());
    truth.infer(state->exec, x, expected);
    state->exec.fence("perf");
    auto const make = [&](std::string name, std::function<void()> call) {
      Case k;
      k.name = std::move(name);
      k.network = type_name<CellSurrogate>();
      k.batch = cells;
      k.flops_per_sample = double(CellSurrogate::flops);
      k.bytes_per_sample = sizeof(float) * (variables + rates);
      k.call = std::move(call);
      for (Field& f : state->fields.out) Kokkos::deep_copy(f, NAN);
      k.call();
      Matrix<double> got("got", checked, rates);
      for (std::size_t n = 0; n < checked; ++n)
        for (std::size_t r = 0; r < rates; ++r) got(n, r) = double(state->fields.out[r](n));
      k.relative_error = relative_error(expected, got);
      double const compute = cells * k.flops_per_sample / c.fma;
      double const memory = cells * k.bytes_per_sample / c.triad;
      k.floor_seconds = std::max(compute, memory);
      k.ceiling = memory > compute ? "triad" : "fma";
      return k;
    };
    auto const many = make("", [state] {
      auto const closure = state->model.in_kernel();
      constexpr int at_once = decltype(closure)::cells;
      Kokkos::parallel_for(
          "advance", Kokkos::RangePolicy<Space>(state->exec, 0, (cells + at_once - 1) / at_once),
          AdvanceCells<std::remove_const_t<decltype(closure)>>{closure, state->fields});
      state->exec.fence("perf");
    });
    auto const one = make("cell by cell", [state] {
      auto const closure = state->model.in_kernel();
      Kokkos::parallel_for("advance", Kokkos::RangePolicy<Space>(state->exec, 0, cells),
                           Advance<std::remove_const_t<decltype(closure)>>{closure, state->fields});
      state->exec.fence("perf");
    });
    return serve("cell-surrogate", "in_kernel", dtype, c, {many, one});
  });
}
