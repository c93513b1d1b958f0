// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients of weights are sums over many equal rows, which a sum that grows number by number
// rounds in the same direction each time: 5e-5 off for 8,192 rows in float. Parts of 256 rows are
// 3e-6 off; those of fused layers are tiles of some dozen rows.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
constexpr int rows = 8192;
constexpr float x = 0.3f, d = 0.7f;

Matrix filled(int batch, int size, float value) {
  Matrix const m("numbers", std::size_t(batch), std::size_t(size));
  Kokkos::deep_copy(m, value);
  return m;
}

/// The largest relative error of all gradients of one layer's weight and bias.
template <class Net, FusionLevel Level> double error() {
  using Exec = Execution<Space, Execution<Space>::backends, Level>;
  constexpr int batch = rows / Net::output.positions();
  Space const exec;
  Model<Net, Full<float>, Exec> model(exec, {.batch = batch, .seed = 1});
  Matrix const y = filled(batch, Net::output.size(), 0);
  model.forward(exec, filled(batch, Net::input.size(), x), y);
  model.backward(exec, filled(batch, Net::output.size(), d));
  exec.fence("long sums");
  double largest = 0;
  for (ParameterEntry const& entry : parameter_table<Net>()) {
    double const wanted = rows * (entry.name == "0.bias" ? double(d) : double(x) * double(d));
    for (long i = 0; i < entry.size(); ++i) {
      double const got = double(model.gradients()(std::size_t(entry.arena_index(i))));
      largest = std::fmax(largest, std::abs(got - wanted) / wanted);
    }
  }
  return largest;
}

struct Narrow : Network<Input<5>, Linear<7>> {};
struct Wide : Network<Input<40>, Linear<300>> {};
struct OneTap : Network<Input<3, 16, 16>, Conv2d<8, KernelSize<1>>> {};
struct Depthwise : Network<Input<16, 16, 16>, Conv2d<16, KernelSize<1>, ChannelGroups<16>>> {};

}  // namespace

TEST_CASE_TEMPLATE("long sums: gradients of weights are near to those in double", Net, Narrow, Wide,
                   OneTap, Depthwise) {
  CHECK(error<Net, FusionLevel::none>() < 5e-6);
  CHECK(error<Net, FusionLevel::tile>() < 2e-5);
}
