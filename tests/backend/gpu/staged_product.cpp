// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products that copy their operands to scratch memory in stages, executed on the host, as in
// segment.cpp, against plain loops: extents that are multiples of 8, at and around stages and
// blocks; windows; parts of the depth.

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/layer/relu.hpp>

#include <backend/portable/contraction.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class Op, class P> using ByMma = gpu::Kernels<HostDevice<EmulatedMma>, Op, P>;

Window square(int size, int stride, int padding) {
  Window w;
  w.size[1] = w.size[2] = size;
  w.stride[1] = w.stride[2] = stride;
  w.padding[1] = w.padding[2] = padding;
  return w;
}

}  // namespace

#define PHYLLO_TEST_STAGED_PRECISIONS Mixed<bf16, float> PHYLLO_IN_VERIFY(, Mixed<fp16, float>)

TEST_CASE_TEMPLATE("gpu: staged products of matrices", P, PHYLLO_TEST_STAGED_PRECISIONS) {
  int i = 0;
  for (int const inputs : {8, 40, 136})
    for (int const outputs : {8, 72, 264}) {
      int const batch = i % 3 == 0 ? 1 : i % 3 == 1 ? 49 : 300;
      compare_contraction<P, ByMma>({batch, Shape{inputs}, outputs, {}}, i++ % 2 == 0);
    }
  compare_contraction<P, ByMma>({0, Shape{8}, 8, {}}, true);
  // Gradients of weights by parts of the batch.
  compare_contraction<P, ByMma>({1700, Shape{8}, 16, {}}, true);
  compare_epilogue<op::Chain<ReLU>, P, ByMma>(49, Shape{104}, 136, {true, true, true, true});
}

TEST_CASE_TEMPLATE("gpu: staged convolutions", P, PHYLLO_TEST_STAGED_PRECISIONS) {
  compare_contraction<P, ByMma>({3, Shape{16, 5, 7}, 40, {}}, true);               // one tap
  compare_contraction<P, ByMma>({9, Shape{16, 5, 5}, 40, square(5, 1, 0)}, true);  // flattened
  compare_contraction<P, ByMma>({2, Shape{8, 9, 7}, 72, square(3, 1, 1)}, true);
  compare_contraction<P, ByMma>({2, Shape{40, 9, 7}, 8, square(3, 2, 1)}, false);
  compare_contraction<P, ByMma>({2, Shape{72, 6, 6}, 16, square(1, 2, 0)}, true);
  compare_contraction<P, ByMma>({3, Shape{8, 11, 10}, 24, square(5, 3, 2)}, true);
  Window line, cube;
  line.size[2] = 4;
  line.stride[2] = 3;
  line.padding[2] = 2;
  cube.size[0] = cube.size[2] = 2;
  cube.size[1] = 3;
  cube.stride[1] = cube.stride[2] = 2;
  cube.padding[0] = cube.padding[1] = 1;
  compare_contraction<P, ByMma>({5, Shape{24, 19}, 8, line}, true);
  compare_contraction<P, ByMma>({2, Shape{16, 4, 5, 6}, 16, cube}, false);
  // More taps than a mask has bits are for the other product; parts of the batch.
  compare_contraction<P, ByMma>({2, Shape{8, 9, 9}, 8, square(7, 1, 3)}, true);
  compare_contraction<P, ByMma>({40, Shape{8, 9, 7}, 24, square(3, 1, 1)}, true);
}
