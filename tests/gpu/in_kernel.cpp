// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: networks called inside a user's kernels, by one thread, for
// some cells at once, by a team and by the lanes of a warp.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

struct Rate : Network<Input<2>, Linear<16>, Tanh, Linear<16>, Tanh, Linear<1>> {};
struct Closure : Network<Input<8>, Linear<32>, ReLU, Linear<32>, ReLU, Linear<4>> {};
struct encoder;
struct Stencil : Network<Input<2, 4, 4>, Conv2d<4, Padding<1>>, BatchNorm<>, ReLU, Save<encoder>,
                         MaxPool2d<2>, Conv2d<4, Padding<1>>, GELU, Upsample<2>, AddFrom<encoder>,
                         Dropout<0.1>, GlobalAveragePool, Flatten, Linear<3>, Softmax> {};
struct Extents : Network<Input<2, 4, 4>, GroupNorm<2>, Tanh, LogSoftmaxOver<Axis::height>,
                         AdaptiveMaxPool2d<3, 2>, Max<Axis::width>, Mean<Axis::channels>> {};
struct Resampled
    : Network<Input<2, 4, 4>, Save<encoder>, MaxPool2d<2>, Combine<MaxUnpool2d<2>, encoder>,
              Upsample<2, LinearInterpolation>, LocalResponseNorm<3>,
              AveragePool2d<3, Stride<2>, CeilMode>, BatchNorm<Affine<false>>,
              Resize<OutputSize<3, 2>, CubicInterpolation>, SpectralConv2d<2, Modes<1>>> {};
struct state;
struct forcing;
struct rate;
struct flux;
struct Heads : Network<NamedInput<state, 3>, Linear<8>, Tanh, Save<encoder>, NamedInput<forcing, 2>,
                       Linear<8>, ConcatFrom<encoder>, Save<rate>, Linear<1>, Output<rate>,
                       From<rate>, Linear<3>, Output<flux>> {};

template <class Net, class P> struct ByOneThread {
  InKernel<Net, P> closure;
  Kokkos::View<float**, Space> x, y;

  KOKKOS_FUNCTION void operator()(int n) const {
    auto const values = closure(Kokkos::subview(x, n, Kokkos::ALL));
    for (int i = 0; i < values.size(); ++i) y(n, i) = float(values[i]);
  }
};

template <class P> struct TwoHeads {
  InKernel<Heads, P> closure;
  Kokkos::View<float**, Space> x, y;

  KOKKOS_FUNCTION void operator()(int n) const {
    auto const values =
        closure(Kokkos::subview(x, n, Kokkos::ALL), Kokkos::subview(y, n, Kokkos::ALL));
    y(n, 0) = values.template get<rate>() + values.template get<flux>()[2];
  }
};

template <class Net, class P> struct ByCells {
  static constexpr int N = 4, in = Net::input.size(), out = Net::output.size();
  InKernel<Net, P> closure;
  Kokkos::View<float**, Space> x, y;

  KOKKOS_FUNCTION void operator()(int tile) const {
    long const first = long(tile) * N, last = long(x.extent(0));
    Cells<float, in, N> cells;
    for (int v = 0; v < cells.variables(); ++v)
      cells.load(v, Kokkos::subview(x, Kokkos::ALL, v), first, last);
    auto const result = closure(cells);
    for (int o = 0; o < result.variables(); ++o)
      result.store(o, Kokkos::subview(y, Kokkos::ALL, o), first, last);
  }
};

template <class Net, class P> struct ByOneTeam {
  InKernel<Net, P> closure;
  Kokkos::View<float**, Space> x, y;

  KOKKOS_FUNCTION void operator()(Kokkos::TeamPolicy<Space>::member_type const& member) const {
    int const n = member.league_rank();
    closure(member, Kokkos::subview(x, n, Kokkos::ALL), Kokkos::subview(y, n, Kokkos::ALL));
  }
};

template <class Net, class P> struct ByWarps {
  InKernel<Net, P> closure;
  Kokkos::View<float**, Space> x, y;

  KOKKOS_FUNCTION void operator()(Kokkos::TeamPolicy<Space>::member_type const& member) const {
    int const n = member.league_rank() * member.team_size() + member.team_rank();
    if (n < int(x.extent(0)))
      closure(Warp(member), Kokkos::subview(x, n, Kokkos::ALL), Kokkos::subview(y, n, Kokkos::ALL));
  }
};

template <class Net, class P>
void call(Space const& exec, Kokkos::View<float**, Space> x, Kokkos::View<float**, Space> y) {
  Model<Net, P> const model(exec);
  int const count = int(x.extent(0));
  auto const closure = model.in_kernel();
  auto const snapshot = model.snapshot(exec);
  Kokkos::parallel_for("by one thread", Kokkos::RangePolicy<Space>(exec, 0, count),
                       ByOneThread<Net, P>{closure, x, y});
  Kokkos::TeamPolicy<Space> policy(exec, count, Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes));
  Kokkos::parallel_for("by one team", policy, ByOneTeam<Net, P>{snapshot.in_kernel(), x, y});
  constexpr int warps = 4;
  Kokkos::TeamPolicy<Space> by_warps(exec, (count + warps - 1) / warps, warps,
                                     Kokkos::TeamPolicy<Space>::vector_length_max());
  by_warps.set_scratch_size(0, Kokkos::PerThread(closure.scratch_bytes));
  Kokkos::parallel_for("by warps", by_warps, ByWarps<Net, P>{closure, x, y});
}

void gpu_in_kernel(Space const& exec, Kokkos::View<float**, Space> x,
                   Kokkos::View<float**, Space> y) {
  call<Rate, Full<float>>(exec, x, y);
  PHYLLO_IN_VERIFY(call<Closure, Full<float>>(exec, x, y);)
  Kokkos::parallel_for(
      "by cells", Kokkos::RangePolicy<Space>(exec, 0, int(x.extent(0)) / 4),
      ByCells<Rate, Full<float>>{InKernel<Rate, Full<float>>{nullptr, nullptr}, x, y});
  call<Closure, Mixed<bf16, float>>(exec, x, y);
  PHYLLO_IN_VERIFY(call<Stencil, Full<double>>(exec, x, y);)
  PHYLLO_IN_VERIFY(call<Extents, Full<float>>(exec, x, y);)
  PHYLLO_IN_VERIFY(call<Resampled, Full<float>>(exec, x, y);)
  PHYLLO_IN_VERIFY(call<Stencil, Mixed<fp16, float>>(exec, x, y);)
  Kokkos::parallel_for("two heads", Kokkos::RangePolicy<Space>(exec, 0, int(x.extent(0))),
                       TwoHeads<Full<float>>{InKernel<Heads, Full<float>>{nullptr, nullptr}, x, y});
}

}  // namespace phyllo_gpu
