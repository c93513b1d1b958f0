// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of GPUs executed on the host, all lanes of a warp by one thread and the matrix
// instructions by the tables of their manuals, against plain loops.

#include <backend/gpu/segment_cases.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/backend/reference/segment.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/sigmoid.hpp>
#include <phyllo/policy/precision.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

enum class Caller { packed, gaps, columns, gathered };

template <class Device, class Segment, class P> void compare(int batch, Caller caller) {
  CAPTURE(batch);
  CAPTURE(int(caller));
  using S = typename P::storage;
  using A = Arena<Segment>;
  typename Segment::template Forward<P> work;
  auto const p = A::template fill<S>(work);
  auto const x = numbers<S>(long(batch) * A::first, 1);
  std::vector<S> expected(std::size_t(batch * A::last), S(std::nanf("")));
  work.batch = batch;
  work.x = x.data();
  work.y = expected.data();
  work.parameters = p.data();
  reference::Kernels<Segment, P>::run(Space{}, "reference", work);

  // Whole rows of 16-bit numbers, rows with gaps, columns of doubles, or a View per variable.
  ExternalTensor source, target;
  source.type = target.type = type_of<S>;
  std::vector<double> from(x.size());
  std::vector<S> slot(x.size(), S(std::nanf("")));
  int const stride = A::last + (caller == Caller::gaps ? 3 : 0);
  std::vector<S> out(std::size_t(batch * stride) + 8, S(std::nanf("")));
  std::vector<float> wide(std::size_t(batch * A::last), std::nanf(""));
  source.data[0] = const_cast<S*>(x.data());
  source.sample_stride = A::first;
  source.channel_stride = target.channel_stride = 1;
  target.data[0] = out.data();
  target.sample_stride = stride;
  if (caller == Caller::columns || caller == Caller::gathered) {
    for (int n = 0; n < batch; ++n)
      for (int c = 0; c < A::first; ++c)
        from[std::size_t(c * batch + n)] = double(float(x[std::size_t(n * A::first + c)]));
    source = {};
    source.type = ElementType::f64;
    source.sample_stride = 1;
    source.channel_stride = batch;
    source.data[0] = from.data();
    target = {};
    target.type = ElementType::f32;
    target.sample_stride = 1;
    target.channel_stride = batch;
    target.data[0] = wide.data();
  }
  if (caller == Caller::gathered) {
    if (A::first > ExternalTensor::max_variables) return;
    source.variables = A::first;
    for (int c = 0; c < A::first; ++c) source.data[c] = from.data() + c * batch;
  }
  std::vector<S> got(expected.size(), S(std::nanf("")));
  work.x = slot.data();
  work.y = got.data();
  gpu::SegmentKernels<Device, Segment, P>::run(Space{}, "gpu", work, source, target);

  double difference = 0, norm = 0;
  for (int n = 0; n < batch; ++n)
    for (int c = 0; c < A::last; ++c) {
      double const e = double(float(expected[std::size_t(n * A::last + c)]));
      double const g = caller == Caller::columns || caller == Caller::gathered
                           ? double(wide[std::size_t(c * batch + n)])
                           : double(float(out[std::size_t(n * stride + c)]));
      difference += (e - g) * (e - g);
      norm += e * e;
    }
  CHECK(norm > 0);
  CHECK(std::sqrt(difference / norm) <= 0.5 * rounding<S>);
  // What is not the segment's stays as it was.
  long touched = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    bool const is_gap = int(i) >= batch * stride || int(i) % stride >= A::last;
    if (is_gap || caller == Caller::columns || caller == Caller::gathered)
      touched += std::isnan(float(out[i])) ? 0 : 1;
  }
  CHECK(touched == 0);
}

template <class Segment, template <class> class Instruction, class S> void compare_all() {
  using P = typename PrecisionOf<S>::type;
  using Device = HostDevice<Instruction>;
  for (Caller const caller : {Caller::packed, Caller::gaps, Caller::columns, Caller::gathered}) {
    for (int const batch : {1, 16, 37, 300}) compare<Device, Segment, P>(batch, caller);
    if (all_cases || caller == Caller::packed) compare<Device, Segment, P>(1500, caller);
  }
}
template <class MmaAtom> struct DeviceOf;
template <template <class> class Instruction, class S>
struct DeviceOf<Instruction<S>> : HostDevice<Instruction> {};

// wgmma is a component: in the gate one segment has it.
template <class Segment, bool ByWgmma = all_cases> void compare_units() {
  compare_all<Segment, EmulatedMma, bf16>();
  compare_all<Segment, EmulatedMma, float>();
  if constexpr (ByWgmma) compare_all<Segment, EmulatedWgmma, bf16>();
  compare_all<Segment, EmulatedMfma, bf16>();
  if constexpr (all_cases) {
    compare_all<Segment, EmulatedMfma, float>();
    compare_all<Segment, EmulatedMma, fp16>();
    compare_all<Segment, EmulatedWgmma, fp16>();
    compare_all<Segment, EmulatedMfma, fp16>();
  }
}

}  // namespace

TEST_CASE("a perceptron whose middle layers are equal runs them as a loop") {
  using Segment =
      op::Segment<Dense<16, 64, ReLU>, Dense<64, 64, ReLU>, Dense<64, 64, ReLU>, Dense<64, 16>>;
  using Layout = gpu::segment_forward<EmulatedMma<bf16>, Segment, Mixed<bf16, float>>::Layout;
  static_assert(Layout::run_length<1>() == 2 && Layout::repeats<2>() && Layout::stages() == 1);
  compare_units<Segment, true>();
}

TEST_CASE("operations for a byte: of all layers, over the first input and the last output") {
  using Odd = op::Segment<Dense<6, 100, ReLU>, Bare<100, 33>, Dense<33, 10>>;
  static_assert(gpu::intensity<Odd, 2> == 2 * (6 * 100 + 100 * 33 + 33 * 10) / ((6 + 10) * 2));
  static_assert(gpu::intensity<Odd, 4> == 2 * (6 * 100 + 100 * 33 + 33 * 10) / ((6 + 10) * 4));
  static_assert(gpu::intensity<op::Segment<Dense<16, 64>>, 2> == 2 * 16 * 64 / ((16 + 64) * 2));
}

TEST_CASE("widths that are no multiple of anything") {
  compare_units<op::Segment<Dense<3, 19, Sigmoid>, Bare<19, 33>, Dense<33, 1, GELU>>>();
  compare_units<op::Segment<Dense<6, 100, ReLU>, Dense<100, 10>>>();
}

TEST_CASE("what a function makes of padding reaches no output") {
  compare_units<op::Segment<Dense<3, 19, BesideZero>, Bare<19, 33, BesideZero>, Dense<33, 5>>>();
}

TEST_CASE_TEMPLATE("a NaN goes through rectifiers, to the outputs of its sample and no other",
                   MmaAtom, EmulatedMma<bf16>, EmulatedMma<fp16>, EmulatedMma<float>,
                   EmulatedWgmma<bf16>, EmulatedWgmma<fp16>, EmulatedMfma<bf16>, EmulatedMfma<fp16>,
                   EmulatedMfma<float>) {
  using S = typename MmaAtom::storage;
  using P = typename PrecisionOf<S>::type;
  using Segment = op::Segment<Dense<5, 40, ReLU>, Dense<40, 40, ReLU>, Dense<40, 3>>;
  typename Segment::template Forward<P> work;
  auto const p = Arena<Segment>::fill<S>(work);
  int const batch = 70, sick = 21;
  // The usual one, and that of all bits, which rounding by an addition carries to a zero.
  for (std::uint32_t const bits : {0x7fc00000u, 0x7fffffffu}) {
    CAPTURE(bits);
    auto x = numbers<float>(batch * 5, 1);
    x[sick * 5 + 2] = std::bit_cast<float>(bits);
    std::vector<S> y(batch * 3, S(7.0f));
    ExternalTensor source, target;
    source.type = ElementType::f32;
    target.type = type_of<S>;
    source.data[0] = x.data();
    target.data[0] = y.data();
    source.sample_stride = 5;
    target.sample_stride = 3;
    source.channel_stride = target.channel_stride = 1;
    work.batch = batch;
    work.parameters = p.data();
    gpu::SegmentKernels<DeviceOf<MmaAtom>, Segment, P>::run(Space{}, "gpu", work, source, target);
    for (int n = 0; n < batch; ++n)
      for (int c = 0; c < 3; ++c)
        CHECK(std::isnan(float(y[std::size_t(n * 3 + c)])) == (n == sick));
  }
}

TEST_CASE("layers that do not fit scratch memory together come in stages") {
  using Wide = Dense<128, 128, ReLU>;
  using Segment = op::Segment<Wide, Wide, Wide, Wide, Wide, Dense<128, 128>>;
  static_assert(gpu::segment_forward<EmulatedMma<bf16>, Segment, Mixed<bf16, float>>::stages == 2);
  static_assert(gpu::segment_forward<EmulatedMfma<bf16>, Segment, Mixed<bf16, float>>::stages == 6);
  compare_units<Segment>();
  // One layer alone does not fit: 66,048 bytes of 65,536. The portable kernels take it.
  using Large = op::Segment<Dense<128, 128>, Dense<128, 16>>;
  static_assert(!gpu::FitsScratch<HostDevice<EmulatedMfma>, Large, Full<float>>);
  static_assert(gpu::FitsScratch<HostDevice<EmulatedMfma>, Large, Mixed<bf16, float>>);
  static_assert(gpu::FitsScratch<HostDevice<EmulatedMma>, Large, Full<float>>);
}
