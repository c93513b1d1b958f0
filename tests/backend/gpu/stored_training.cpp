// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trainers whose steps store their values, as they would on a GPU, executed on the host: the same
// gradients as layer by layer, step after step, under Reproducible as well.

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <type_traits>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
template <class T> using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct GpuOnHost {
  using Device = test::HostDevice<test::EmulatedMfma>;
  template <class P>
  static constexpr SegmentLimits segment_limits_in = gpu::segment_limits<Device, P>("gpu on host");
  template <class Op, class P> using kernels = gpu::Kernels<Device, Op, P>;
};
template <class Bits>
using Stored = Execution<Space, Backends<GpuOnHost, ReferenceBackend, PortableBackend>,
                         FusionLevel::segment, Bits>;
using LayerByLayer = Execution<Space, Backends<ReferenceBackend>, FusionLevel::none>;

struct Net
    : Network<Input<24>, Linear<128>, GELU, Linear<112>, ReLU, Linear<128>, Tanh, Linear<5>> {};

// Of roundings of the values; a ReLU may fall to the other side, and sums have another order.
template <class P>
inline constexpr double bound = [] {
  using S = typename P::storage;
  if constexpr (sizeof(S) > 2)
    return 0x1p-18;
  else
    return 4 * double(S::epsilon);
}();

// Norm of the difference of the trained parameters from those layer by layer, relative to what
// training did to them; batches of several sizes, all less than the largest.
template <class P, class Bits> double difference() {
  constexpr int most = 150;
  Space const exec;
  Sgd const rule{.rate = 0.1f, .momentum = 0.9f};
  using Tested = Trainer<Net, MeanSquaredError, Sgd, P, Local, Stored<Bits>>;
  static_assert(Tested::whole_step);
  using Kernels = SelectedKernels<
      op::WholeStep<StepSegment<typename Tested::ModelType::Inference, 0>, MeanSquaredError>, P,
      typename Stored<Bits>::backends>;
  static_assert(kernel_traits<Kernels>.sample_bytes > 0);
  Trainer<Net, MeanSquaredError, Sgd, P, Local, LayerByLayer> expected(exec, rule,
                                                                       {.batch = most, .seed = 3});
  Tested got(exec, rule, {.batch = most, .seed = 3});
  auto const before = Kokkos::create_mirror(got.model().master());
  Kokkos::deep_copy(before, got.model().master());
  for (int const batch : {most, 37, 1, 100}) {
    Rows<float> x("x", std::size_t(batch), 24), t("t", std::size_t(batch), 5);
    for (std::size_t i = 0; i < x.size(); ++i)
      x.data()[i] = float(2 * random_uniform(1, 0, 0, i, 0) - 1);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = float(i % 5) - 2;
    Kokkos::deep_copy(got.model().gradients(), NAN);
    expected.step(x, t);
    got.step(x, t);
    CHECK(got.loss() == doctest::Approx(expected.loss()).epsilon(bound<P>));
  }
  exec.fence("stored training");
  double of = 0, norm = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    double const e = double(expected.model().master()(i)), b = double(before(i));
    double const d = double(got.model().master()(i)) - e;
    of += d * d;
    norm += (e - b) * (e - b);
  }
  CHECK(norm > 0);
  return std::sqrt(of / norm);
}

}  // namespace

TEST_CASE("trainers whose steps store their values train as layers do one by one") {
  CHECK(difference<Full<float>, Fastest>() <= bound<Full<float>>);
  CHECK(difference<Mixed<bf16, float>, Fastest>() <= bound<Mixed<bf16, float>>);
}
TEST_CASE("and so do reproducible ones, shard by shard") {
  CHECK(difference<Full<float>, Reproducible<>>() <= bound<Full<float>>);
}
