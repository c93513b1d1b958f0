// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of losses as GPUs add them, executed on the host as in segment.cpp, against plain loops.

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>

#include <backend/portable/loss_comparison.hpp>

#include <cstring>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class Op, class P> using OnCuda = gpu::Kernels<HostDevice<EmulatedMma>, Op, P>;
template <class Op, class P> using OnHip = gpu::Kernels<HostDevice<EmulatedMfma>, Op, P>;

}  // namespace

TEST_CASE_TEMPLATE("gpu: sums of losses, by one block of threads and by many", P, Full<double>,
                   Full<float>, Mixed<bf16, float>) {
  for (int const few : sizes)
    for (int const batch : {0, few, 64 * few, 4096 * few, 4096 * few + 1}) {
      compare_loss_sums<P, OnCuda>(batch);
      compare_loss_sums<P, OnHip>(batch);
    }
  compare_loss_sums<P, OnCuda>(64 * 4096 + 4095);  // more than blocks begin with
}

TEST_CASE("gpu: sums of losses have the same bits on devices of both vendors") {
  using P = Full<float>;
  for (int const batch : {1000, 300'000}) {
    auto const values = numbers<float>(batch, 1), correct = numbers<float>(batch, 2);
    float partial[2 * op::LossSum<P>::blocks], cuda[3], hip[3];
    OnCuda<op::LossSum<P>, P>::run(Space{}, "cuda",
                                   {batch, values.data(), correct.data(), partial, cuda});
    OnHip<op::LossSum<P>, P>::run(Space{}, "hip",
                                  {batch, values.data(), correct.data(), partial, hip});
    CHECK(std::memcmp(cuda, hip, sizeof cuda) == 0);
    CHECK(cuda[0] == float(batch));
  }
}
