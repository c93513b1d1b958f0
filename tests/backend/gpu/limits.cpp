// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What backends of GPUs tell the planner is what their kernels require: the bytes of a layer in
// scratch memory, and no segments without matrix instructions.

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace phyllo;

namespace {

using Amd = test::HostDevice<hip::Mfma>;
using Nvidia = test::HostDevice<cuda::Mma>;

template <class Device> struct OnHost {
  static constexpr char const* name = "gpu";
  template <class P>
  static constexpr SegmentLimits segment_limits_in = gpu::segment_limits<Device, P>(name);
  template <class Op, class P> using kernels = gpu::Kernels<Device, Op, P>;
};
template <class Device>
using Exec =
    Execution<Kokkos::DefaultHostExecutionSpace, Backends<OnHost<Device>, PortableBackend>>;
template <class Net, class P, class Device>
using PlanOf = NetworkPlan<Net, Phase::inference, P, Exec<Device>>;

template <int In, int Out> using Layer = op::Dense<In, Out, true, op::Chain<>>;
template <class Device, class P, int In, int Out> constexpr bool same_bytes() {
  using Atom = typename Device::template MmaAtom<typename P::storage>;
  using Layout = gpu::SegmentLayout<Atom, op::Segment<Layer<In, Out>, Layer<Out, 1>>>;
  SegmentLimits const limits = gpu::segment_limits<Device, P>("");
  bool const fits = gpu::FitsScratch<Device, op::Segment<Layer<In, Out>, Layer<Out, 1>>, P>;
  return limits.scratch.of_layer(In, Out) == Layout::bytes(0) &&
         fits == (limits.scratch.of_layer(In, Out) <= limits.scratch.bytes);
}
template <class Device, class P> constexpr bool all_same() {
  return same_bytes<Device, P, 1, 1>() && same_bytes<Device, P, 16, 17>() &&
         same_bytes<Device, P, 5, 100>() && same_bytes<Device, P, 128, 112>() &&
         same_bytes<Device, P, 128, 128>();
}

struct Widest : Network<Input<128>, Linear<112>, ReLU, Linear<112>, ReLU, Linear<128>, ReLU,
                        Linear<128>, Tanh, Linear<16>, Linear<3>> {};
struct Residuals : Network<Input<8>, Linear<8>, Residual<Linear<8>, Tanh>, Linear<2>> {};

}  // namespace

TEST_CASE("limits of GPUs: scratch memory of a layer is that of its kernel") {
  static_assert(all_same<Amd, Full<float>>() && all_same<Amd, Mixed<bf16, float>>());
  static_assert(all_same<Nvidia, Full<float>>() && all_same<Nvidia, Mixed<bf16, float>>());
}

TEST_CASE("limits of GPUs: a layer that does not fit ends the segment") {
  using Float = PlanOf<Widest, Full<float>, Amd>;
  static_assert(Float::plan.size == 3);  // 128 x 128 floats are 64 KiB, without biases
  static_assert(Float::plan.step[0].end.reason == EndReason::scratch &&
                Float::plan.step[0].end.found == 64 * 1024 + 512 &&
                Float::plan.step[0].end.most == 64 * 1024);
  static_assert(PlanOf<Widest, Mixed<bf16, float>, Amd>::plan.size == 1);
  static_assert(PlanOf<Widest, Full<float>, Nvidia>::plan.size == 1);
  std::string const text = explain<Widest, Full<float>, Exec<Amd>>();
  INFO(text);
  CHECK(text.find("segment ends: scratch memory of backend gpu: 64.5 KiB wanted, 64 KiB there\n") !=
        text.npos);
  static_assert(!runs_whole_steps<Widest, Full<float>, Exec<Amd>>() &&
                runs_whole_steps<Widest, Mixed<bf16, float>, Exec<Amd>>());
}

TEST_CASE("limits of GPUs: perceptrons in precisions with matrix instructions") {
  static_assert(PlanOf<Residuals, Full<float>, Nvidia>::plan.size == 4);
  static_assert(PlanOf<Residuals, Full<float>, Nvidia>::plan.step[1].end.reason == EndReason::sums);
  using Double = PlanOf<Widest, Full<double>, Amd>;
  static_assert(Double::plan.size == 1);  // by backend portable
  CHECK(std::string(Double::limits.backend) == "portable");
  CHECK(std::string(PlanOf<Widest, Full<float>, Amd>::limits.backend) == "gpu");
}
