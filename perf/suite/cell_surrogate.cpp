// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's kernel over 10^6 cells that calls the network, one View per variable: on a processor for
// as many cells at once as a vector has lanes, and everywhere for each cell alone.

#include "cases.hpp"

namespace {

using namespace perf;
using Field = Vector<float>;
constexpr int cells = 1000000, variables = 24, rates = 8;

struct Fields {
  Field in[variables];
  Field out[rates];
};

template <class Closure> struct Advance {
  Closure closure;
  Fields fields;
  PHYLLO_FUNCTION void operator()(int cell) const {
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
  PHYLLO_FUNCTION void operator()(int tile) const {
    long const first = long(tile) * at_once;
    Cells<float, variables, at_once> state;
    for (int v = 0; v < variables; ++v) state.load(v, fields.in[v], first, cells);
    auto const y = closure(state);
    for (int r = 0; r < rates; ++r) y.store(r, fields.out[r], first, cells);
  }
};

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    struct State {
      Space exec = new_instance();
      Model<CellSurrogate, P, Execution<Space>> model{exec, {.batch = 64, .seed = 1}};
      Fields fields;
    };
    auto const state = std::make_shared<State>();
    unsigned seed = 0;
    for (Field& f : state->fields.in) {
      ++seed;
      f = filled<Field>(
          "in", [seed](std::size_t i) { return 2 * random_uniform(seed, 0, 0, i, 0) - 1; }, cells);
    }
    for (Field& f : state->fields.out) f = Field("out", cells);
    constexpr int checked = 64;
    HostMatrix<double> x("x", checked, variables), expected("expected", checked, rates);
    for (std::size_t v = 0; v < variables; ++v) {
      auto const field = on_host(state->fields.in[v]);
      for (std::size_t n = 0; n < checked; ++n) x(n, v) = double(field(n));
    }
    Host const host;
    Model<CellSurrogate, Full<double>, Reference> truth(host, {.batch = checked});
    state->exec.fence("perf");
    copy_parameters(state->model.parameters(), truth.parameters());
    truth.infer(host, x, expected);
    host.fence("perf");
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
      HostMatrix<double> got("got", checked, rates);
      for (std::size_t r = 0; r < rates; ++r) {
        auto const field = on_host(state->fields.out[r]);
        for (std::size_t n = 0; n < checked; ++n) got(n, r) = double(field(n));
      }
      k.relative_error = relative_error(expected, got);
      set_floor(k, c.vectors(), c.memory());
      return k;
    };
    auto const one = [state] {
      auto const closure = state->model.in_kernel();
      Kokkos::parallel_for("advance", Kokkos::RangePolicy<Space>(state->exec, 0, cells),
                           Advance<std::remove_const_t<decltype(closure)>>{closure, state->fields});
      state->exec.fence("perf");
    };
    if constexpr (on_device) {
      return serve("cell-surrogate", "in_kernel", dtype, c, {make("", one)});
    } else {
      auto const many = [state] {
        auto const closure = state->model.in_kernel();
        constexpr int at_once = decltype(closure)::cells;
        Kokkos::parallel_for(
            "advance", Kokkos::RangePolicy<Space>(state->exec, 0, (cells + at_once - 1) / at_once),
            AdvanceCells<std::remove_const_t<decltype(closure)>>{closure, state->fields});
        state->exec.fence("perf");
      };
      return serve("cell-surrogate", "in_kernel", dtype, c,
                   {make("", many), make("cell by cell", one)});
    }
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}
