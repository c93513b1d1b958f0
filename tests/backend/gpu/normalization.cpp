// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Batch normalisation of GPUs executed on the host, as in segment.cpp, against plain loops.

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>

#include <backend/portable/normalization.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class Op, class P> using OnCuda = gpu::Kernels<HostDevice<EmulatedMma>, Op, P>;
template <class Op, class P> using OnHip = gpu::Kernels<HostDevice<EmulatedMfma>, Op, P>;

}  // namespace

TEST_CASE_TEMPLATE("gpu: batch normalisation", P,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>)) {
  for_size_rows([](SizeRow const& pick) {
    compare_normalization<op::Chain<>, P, OnCuda>(pick(0), pick(1), pick(2));
    compare_normalization<op::Chain<GELU, ReLU>, P, OnHip>(pick(0), pick(1), pick(2));
  });
  compare_normalization<op::Chain<>, P, OnCuda>(0, 4, 17);
  // More rows than are summed at a time, and more channels than a block has.
  compare_normalization<op::Chain<ReLU>, P, OnCuda>(40, 30, 70);
  // Rows of chunks: one, a few, more than a block has side by side.
  compare_normalization<op::Chain<ReLU>, P, OnCuda>(2, 3, 8);
  compare_normalization<op::Chain<Dropout<0.5>, GELU>, P, OnCuda>(3, 33, 24);
  compare_normalization<op::Chain<>, P, OnHip>(40, 30, 136);
}
