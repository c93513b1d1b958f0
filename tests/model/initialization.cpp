// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/model/initialization.hpp>
#include <phyllo/model/initialize.hpp>
#include <phyllo/network/network.hpp>
#include <vector>

namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
  double kurtosis = 0;  // fourth moment over the variance squared
  double largest = 0;
};

int const count = 1 << 18;

template <class Initialization>
Moments moments_of(Initialization initialization, int fan_in, int fan_out) {
  Moments m;
  double fourth = 0;
  for (int i = 0; i < count; ++i) {
    double const w = double(initialization.value({5, 2, std::uint64_t(i), fan_in, fan_out}));
    m.mean += w / count;
    m.variance += w * w / count;
    fourth += w * w * w * w / count;
    m.largest = std::max(m.largest, std::fabs(w));
  }
  m.kurtosis = fourth / (m.variance * m.variance);
  return m;
}

// Five standard deviations of the estimates of mean and variance.
void check(Moments const& m, double variance, double kurtosis) {
  CHECK(std::fabs(m.mean) < 5 * std::sqrt(variance / count));
  CHECK(std::fabs(m.variance / variance - 1) < 5 * std::sqrt((kurtosis - 1) / count));
  CHECK(std::fabs(m.kurtosis / kurtosis - 1) < 0.05);
}

template <class Initialization> struct Fill {
  Initialization initialization;
  Kokkos::View<float*> weight;
  KOKKOS_FUNCTION void operator()(int i) const {
    weight(i) = initialization.value({9, 1, std::uint64_t(i), 20, 30});
  }
};

template <class Initialization> double largest_difference_in_kernel() {
  Fill<Initialization> const fill{{}, Kokkos::View<float*>("weights", 1000)};
  Kokkos::DefaultExecutionSpace const exec;
  Kokkos::parallel_for("fill", Kokkos::RangePolicy(exec, 0, 1000), fill);
  exec.fence("fill");
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, fill.weight);
  double largest = 0;
  for (int i = 0; i < 1000; ++i) {
    float const expected = Initialization{}.value({9, 1, std::uint64_t(i), 20, 30});
    largest = std::max(largest, double(std::fabs(got(i) - expected)));
  }
  return largest;
}

}  // namespace

TEST_CASE("a truncated normal distribution ends at two deviations") {
  auto const m = moments_of(phyllo::TruncatedNormal{.deviation = 0.5f}, 50, 10);
  // Variance and kurtosis of the normal distribution between -2 and 2.
  check(m, 0.25 * 0.773741, 2.3655);
  CHECK(m.largest <= 1);
}

TEST_CASE("the default of torch draws biases by the fan of their layer, and no others") {
  using Net = phyllo::Network<phyllo::Input<4>, phyllo::Linear<300>, phyllo::Linear<2>>;
  Kokkos::DefaultHostExecutionSpace const exec;
  Kokkos::View<float*, Kokkos::HostSpace> const p("p", Net::program::nodes.arena_size),
      q("q", p.size()), buffers("buffers", 0);
  phyllo::launch_initialization<Net>(exec, "test", phyllo::TorchDefault{}, 3, p, p, buffers);
  phyllo::launch_initialization<Net>(exec, "test", phyllo::KaimingUniform{}, 3, q, q, buffers);
  exec.fence("initialization");
  auto const& nodes = Net::program::nodes.node;
  double largest = 0, largest_of_last = 0, sum = 0;
  for (int i = 0; i < 300; ++i) {
    double const b = p(nodes[1].parameter[1].offset + i);
    largest = std::max(largest, std::fabs(b));
    sum += b;
    CHECK(q(nodes[1].parameter[1].offset + i) == 0);
    CHECK(b != p(nodes[1].parameter[0].offset + i));
  }
  for (int i = 0; i < 2; ++i)
    largest_of_last =
        std::max(largest_of_last, std::fabs(double(p(nodes[2].parameter[1].offset + i))));
  CHECK(largest <= 0.5);  // 1 / sqrt(4)
  CHECK(largest > 0.45);
  CHECK(std::fabs(sum / 300) < 0.1);
  CHECK(largest_of_last > 0);
  CHECK(largest_of_last <= 1 / std::sqrt(300.0));
}

TEST_CASE("initialisations have the variance of their paper and the shape of their distribution") {
  double const uniform = 9.0 / 5;
  double const normal = 3;
  check(moments_of(phyllo::KaimingUniform{}, 50, 10), 2.0 / 50, uniform);
  check(moments_of(phyllo::KaimingNormal{}, 50, 10), 2.0 / 50, normal);
  check(moments_of(phyllo::XavierUniform{}, 50, 30), 2.0 / 80, uniform);
  check(moments_of(phyllo::XavierNormal{}, 50, 30), 2.0 / 80, normal);
  check(moments_of(phyllo::KaimingUniform{1.0f}, 50, 10), 1.0 / 50, uniform);
  // Kaiming uniform with a = sqrt(5): gain sqrt(2 / (1 + a^2)), within 1 / sqrt(fan_in).
  check(moments_of(phyllo::TorchDefault{}, 50, 10), 1.0 / 150, uniform);
  CHECK(moments_of(phyllo::TorchDefault{}, 4, 10).largest <= 0.5);
  check(moments_of(phyllo::UniformByFan{}, 50, 10), 1.0 / 150, uniform);
  check(moments_of(phyllo::UnitNormal{}, 50, 10), 1, normal);
  check(moments_of(phyllo::XavierNormal{5.0f / 3}, 50, 30), 25.0 / 9 * 2 / 80, normal);
}

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Doubles = Kokkos::View<double*, Kokkos::HostSpace>;

// More rows than columns, fewer, and taps.
struct Matrices : phyllo::Network<phyllo::Input<3, 6, 5>, phyllo::Conv2d<7, phyllo::KernelSize<2>>,
                                  phyllo::Flatten, phyllo::Linear<40>, phyllo::Linear<60>> {};

template <class Net> Doubles drawn(Host const& exec, float gain, std::uint64_t seed) {
  Doubles const p("p", Net::program::nodes.arena_size);
  phyllo::launch_initialization<Net>(exec, "test", phyllo::Orthogonal{gain}, seed, p, p,
                                     Kokkos::View<float*, Kokkos::HostSpace>("buffers", 0));
  exec.fence("initialization");
  return p;
}

// The largest entry of the product of the smaller extent, minus gain^2 times one.
double departure(Doubles const& p, phyllo::ParameterTensor const& t, double gain) {
  long const rows = t.outputs, columns = long(t.channels) * t.taps;
  auto const at = [&](long o, long e) {
    return p(t.offset + (e % t.taps * t.channels + e / t.taps) * t.outputs + o);
  };
  long const vectors = std::min(rows, columns), size = std::max(rows, columns);
  double worst = 0;
  for (long a = 0; a < vectors; ++a)
    for (long b = 0; b < vectors; ++b) {
      double sum = 0;
      for (long i = 0; i < size; ++i)
        sum += rows <= columns ? at(a, i) * at(b, i) : at(i, a) * at(i, b);
      worst = std::max(worst, std::fabs(sum - (a == b ? gain * gain : 0)));
    }
  return worst;
}

}  // namespace

TEST_CASE("orthogonal weights: rows or columns to 1e-12, of any seed, by any number of threads") {
  Host const exec;
  auto const& nodes = Matrices::program::nodes.node;
  double const gain = double(1.5f);
  auto const p = drawn<Matrices>(exec, 1.5f, 3);
  for (int const node : {1, 3, 4}) {
    CHECK(nodes[node].parameter[0].initial == phyllo::Initial::scheme);
    CHECK(departure(p, nodes[node].parameter[0], gain) <= 1e-12);
    CHECK(p(nodes[node].parameter[1].offset) == 0);
  }
  Host const single = Kokkos::Experimental::partition_space(
      exec, std::vector<int>(std::size_t(exec.concurrency()), 1))[0];
  auto const again = drawn<Matrices>(single, 1.5f, 3), other = drawn<Matrices>(exec, 1.5f, 4);
  int different = 0, of_other = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    different += again(i) != p(i);
    of_other += other(i) != p(i);
  }
  CHECK(different == 0);
  CHECK(of_other > 1000);
}

// Of a random orthogonal n x n matrix: entries have the moments of one coordinate of the sphere,
// 1 / n and 3 / (n (n + 2)), and the trace has mean 0 and variance 1.
TEST_CASE("orthogonal weights: the moments of the uniform distribution") {
  struct Square : phyllo::Network<phyllo::Input<8>, phyllo::Linear<8>> {};
  Host const exec;
  constexpr int draws = 2000;
  double first = 0, second = 0, fourth = 0, trace = 0, squares = 0;
  for (int seed = 0; seed < draws; ++seed) {
    auto const p = drawn<Square>(exec, 1, std::uint64_t(seed));
    double of_trace = 0;
    for (int i = 0; i < 64; ++i) {
      first += p(i) / (64 * draws);
      second += p(i) * p(i) / (64 * draws);
      fourth += p(i) * p(i) * p(i) * p(i) / (64 * draws);
      if (i % 9 == 0) of_trace += p(i);
    }
    trace += of_trace / draws;
    squares += of_trace * of_trace / draws;
  }
  CHECK(std::fabs(first) < 5 / std::sqrt(8.0 * 64 * draws));
  CHECK(second == doctest::Approx(1.0 / 8).epsilon(1e-12));
  CHECK(fourth == doctest::Approx(3.0 / 80).epsilon(0.02));
  CHECK(std::fabs(trace) < 5 / std::sqrt(double(draws)));
  CHECK(squares == doctest::Approx(1).epsilon(5 * std::sqrt(2.0 / draws)));
}

TEST_CASE("uniform weights stay within their bound, normal ones within 5.8 deviations") {
  CHECK(moments_of(phyllo::KaimingUniform{}, 6, 1).largest <= 1.0);
  CHECK(moments_of(phyllo::KaimingUniform{}, 6, 1).largest > 0.9999);
  CHECK(moments_of(phyllo::XavierUniform{}, 3, 3).largest <= 1.0);
  double const largest = moments_of(phyllo::KaimingNormal{1.0f}, 1, 1).largest;
  CHECK(largest < 5.8);
  CHECK(largest > 4.0);
}

TEST_CASE("a weight depends on seed, tensor and element, also beyond 2^32") {
  auto const at = [](std::uint64_t seed, std::uint32_t tensor, std::uint64_t element) {
    return phyllo::XavierUniform{}.value({seed, tensor, element, 1, 1});
  };
  float const weight = at(1, 2, 3);
  CHECK(at(1, 2, 3) == weight);
  CHECK(at(2, 2, 3) != weight);
  CHECK(at(std::uint64_t(1) << 40, 2, 3) != weight);
  CHECK(at(1, 3, 3) != weight);
  CHECK(at(1, 2, 4) != weight);
  CHECK(at(1, 2, 3 + (std::uint64_t(1) << 31)) != weight);
  CHECK(at(1, 2, 3 + (std::uint64_t(1) << 32)) != weight);
}

TEST_CASE("a kernel makes the weights that the host makes") {
  // Of order one: a few units in the last place where logarithm and cosine differ.
  CHECK(largest_difference_in_kernel<phyllo::KaimingUniform>() <= 1e-6);
  CHECK(largest_difference_in_kernel<phyllo::KaimingNormal>() <= 1e-6);
  CHECK(largest_difference_in_kernel<phyllo::XavierUniform>() <= 1e-6);
  CHECK(largest_difference_in_kernel<phyllo::XavierNormal>() <= 1e-6);
}

TEST_CASE(
    "the outputs that an input takes part in: of a convolution by every tap, of a Linear not") {
  using namespace phyllo;
  struct Net : Network<Input<2, 3>, Conv1d<5, KernelSize<2>>, Flatten, Linear<4>> {};
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Numbers = Kokkos::View<float*, Kokkos::HostSpace>;
  constexpr auto const& nodes = Net::program::nodes;
  Numbers const weights("weights", nodes.arena_size), master("master", nodes.arena_size),
      buffers("buffers", 1);
  launch_initialization<Net>(Space{}, "initialization", XavierUniform{}, 7, weights, master,
                             buffers);
  Space{}.fence("initialization");
  auto const expected = [](std::uint32_t tensor, int fan_in, int fan_out) {
    return XavierUniform{}.value({7, tensor, 0, fan_in, fan_out});
  };
  CHECK(weights(nodes.node[1].parameter[0].offset) == expected(0, 2 * 2, 5 * 2));
  CHECK(weights(nodes.node[3].parameter[0].offset) == expected(1, 5 * 2, 4));
}
