// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's kernel over 10^5 cells that each have a state of an LSTM, one View per variable: on a
// processor for twice as many cells at once as a vector has lanes, on a device for each cell alone.

#include "cases.hpp"

namespace {

using namespace perf;
constexpr int cells = 100000, width = 32;
using Field =
    Kokkos::View<float* [width], Kokkos::LayoutLeft, Space>;  // neighbouring cells are contiguous

struct Fields {
  Field h, c, x, new_h, new_c;
};

template <class Closure> struct Advance {
  Closure closure;
  Fields fields;
  PHYLLO_FUNCTION void operator()(int cell) const {
    auto const y = closure(Kokkos::subview(fields.h, cell, Kokkos::ALL),
                           Kokkos::subview(fields.c, cell, Kokkos::ALL),
                           Kokkos::subview(fields.x, cell, Kokkos::ALL));
    for (int v = 0; v < width; ++v) {
      fields.new_h(cell, v) = y.template get<h>()[v];
      fields.new_c(cell, v) = y.template get<c>()[v];
    }
  }
};

template <class Closure> struct AdvanceCells {
  static constexpr int at_once = 2 * Closure::cells;
  using Numbers = Cells<float, width, at_once>;
  Closure closure;
  Fields fields;
  PHYLLO_FUNCTION void operator()(int tile) const {
    long const first = long(tile) * at_once;
    Numbers old_h, old_c, in;
    for (int v = 0; v < width; ++v) {
      old_h.load(v, Kokkos::subview(fields.h, Kokkos::ALL, v), first, cells);
      old_c.load(v, Kokkos::subview(fields.c, Kokkos::ALL, v), first, cells);
      in.load(v, Kokkos::subview(fields.x, Kokkos::ALL, v), first, cells);
    }
    auto const y = closure(old_h, old_c, in);
    for (int v = 0; v < width; ++v) {
      y.template get<h>().store(v, Kokkos::subview(fields.new_h, Kokkos::ALL, v), first, cells);
      y.template get<c>().store(v, Kokkos::subview(fields.new_c, Kokkos::ALL, v), first, cells);
    }
  }
};

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const ceilings = measure_ceilings();
    struct State {
      Space exec = new_instance();
      Model<LstmCell, P, Execution<Space>> model{exec, {.batch = 64, .seed = 1}};
      Fields fields;
    };
    auto const state = std::make_shared<State>();
    unsigned seed = 0;
    for (Field* f : {&state->fields.h, &state->fields.c, &state->fields.x}) {
      *f = Field("in", cells);
      auto const host = Kokkos::create_mirror_view(*f);
      ++seed;
      for (std::size_t i = 0; i < host.size(); ++i)
        host.data()[i] = 2 * random_uniform(seed, 0, 0, i, 0) - 1;
      Kokkos::deep_copy(*f, host);
    }
    state->fields.new_h = Field("new h", cells);
    state->fields.new_c = Field("new c", cells);
    constexpr int checked = 64;
    HostMatrix<double> in[3], expected[2];
    Field const* const fields[] = {&state->fields.h, &state->fields.c, &state->fields.x};
    for (int k = 0; k < 3; ++k) {
      in[k] = HostMatrix<double>("in", checked, width);
      auto const field = on_host(*fields[k]);
      for (int n = 0; n < checked; ++n)
        for (int v = 0; v < width; ++v) in[k](n, v) = double(field(n, v));
    }
    for (auto& e : expected) e = HostMatrix<double>("expected", checked, width);
    Host const host;
    Model<LstmCell, Full<double>, Reference> truth(host, {.batch = checked});
    state->exec.fence("perf");
    copy_parameters(state->model.parameters(), truth.parameters());
    truth.infer(host, tensors(named<h>(in[0]), named<c>(in[1]), named<x>(in[2])),
                tensors(named<h>(expected[0]), named<c>(expected[1])));
    host.fence("perf");
    auto const make = [&](std::string name, std::function<void()> call) {
      Case k;
      k.name = std::move(name);
      k.network = type_name<LstmCell>();
      k.batch = cells;
      k.flops_per_sample = double(LstmCell::flops);
      k.bytes_per_sample = sizeof(float) * 5 * width;
      k.call = std::move(call);
      Kokkos::deep_copy(state->fields.new_h, NAN);
      k.call();
      HostMatrix<double> got("got", checked, width);
      auto const field = on_host(state->fields.new_h);
      for (int n = 0; n < checked; ++n)
        for (int v = 0; v < width; ++v) got(n, v) = double(field(n, v));
      k.relative_error = relative_error(expected[0], got);
      set_floor(k, ceilings.vectors(), ceilings.memory());
      return k;
    };
    auto const one = [state] {
      auto const closure = state->model.in_kernel();
      Kokkos::parallel_for("advance", Kokkos::RangePolicy<Space>(state->exec, 0, cells),
                           Advance<std::remove_const_t<decltype(closure)>>{closure, state->fields});
      state->exec.fence("perf");
    };
    if constexpr (on_device) {
      return serve("lstm-cell", "in_kernel", dtype, ceilings, {make("", one)});
    } else {
      auto const many = [state] {
        auto const closure = state->model.in_kernel();
        using Tile = AdvanceCells<std::remove_const_t<decltype(closure)>>;
        Kokkos::parallel_for(
            "advance",
            Kokkos::RangePolicy<Space>(state->exec, 0, (cells + Tile::at_once - 1) / Tile::at_once),
            Tile{closure, state->fields});
        state->exec.fence("perf");
      };
      return serve("lstm-cell", "in_kernel", dtype, ceilings,
                   {make("", many), make("cell by cell", one)});
    }
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}
