// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's kernel over 10^6 cells that calls the network for each, one View per variable.

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
    Case k;
    k.network = type_name<CellSurrogate>();
    k.batch = cells;
    k.flops_per_sample = double(CellSurrogate::flops);
    k.bytes_per_sample = sizeof(float) * (variables + rates);
    k.call = [state] {
      auto const closure = state->model.in_kernel();
      Kokkos::parallel_for("advance", Kokkos::RangePolicy<Space>(state->exec, 0, cells),
                           Advance<decltype(closure)>{closure, state->fields});
      state->exec.fence("perf");
    };
    k.call();
    constexpr int checked = 64;
    Matrix<double> x("x", checked, variables), expected("expected", checked, rates),
        got("got", checked, rates);
    for (std::size_t n = 0; n < checked; ++n) {
      for (std::size_t v = 0; v < variables; ++v) x(n, v) = double(state->fields.in[v](n));
      for (std::size_t r = 0; r < rates; ++r) got(n, r) = double(state->fields.out[r](n));
    }
    Model<CellSurrogate, Full<double>, Reference> truth(state->exec, {.batch = checked});
    copy_parameters(state->model.parameters(), truth.parameters());
    truth.infer(state->exec, x, expected);
    state->exec.fence("perf");
    k.relative_error = relative_error(expected, got);
    double const compute = cells * k.flops_per_sample / c.fma;
    double const memory = cells * k.bytes_per_sample / c.triad;
    k.floor_seconds = std::max(compute, memory);
    k.ceiling = memory > compute ? "triad" : "fma";
    return serve("cell-surrogate", "in_kernel", dtype, c, {k});
  });
}
