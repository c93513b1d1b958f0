// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of matrices of GPUs executed on the host, as in segment.cpp, against plain loops:
// extents at and around fragments, steps and blocks, the whole epilogue.

#include <backend/gpu/host_device.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/contraction.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class Op, class P> using ByMma = gpu::Kernels<HostDevice<EmulatedMma>, Op, P>;
template <class Op, class P> using ByMfma = gpu::Kernels<HostDevice<EmulatedMfma>, Op, P>;
// Float by the other vendor's instructions is for ring verify.
template <class P> inline constexpr bool has_mfma = all_cases || !std::is_same_v<P, Full<float>>;
// Of float: products by parts of 11 bits (cuda/mma_float.hpp), and one sum for the whole depth.
template <class P>
inline constexpr double errors = std::is_same_v<typename P::storage, float> ? 4 : 1;

constexpr int extents[] = {1, 3, 17, 33, 100, 130, 260};
constexpr int batches[] = {0, 1, 5, 49, 300};

}  // namespace

#define PHYLLO_TEST_INSTRUCTION_PRECISIONS \
  Full<float>, Mixed<bf16, float> PHYLLO_IN_VERIFY(, Mixed<fp16, float>)

TEST_CASE_TEMPLATE("gpu: products of odd extents", P, PHYLLO_TEST_INSTRUCTION_PRECISIONS) {
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; j += all_cases ? 1 : 2) {
      ContractionCase const c{batches[i], Shape{extents[j]}, extents[(2 * i + j) % 7], {}};
      compare_contraction<P, ByMma>(c, (i + j) % 2 == 0, errors<P>);
      if constexpr (has_mfma<P>) compare_contraction<P, ByMfma>(c, (i + j) % 2 == 0, errors<P>);
    }
}

TEST_CASE_TEMPLATE("gpu: convolutions", P, PHYLLO_TEST_INSTRUCTION_PRECISIONS) {
  // One tap; a window of the whole input, as behind Flatten.
  Window whole;
  whole.size[1] = whole.size[2] = 5;
  compare_contraction<P, ByMma>({3, Shape{17, 5, 7}, 33, {}}, true, errors<P>);
  compare_contraction<P, ByMma>({49, Shape{16, 5, 5}, 34, whole}, true, errors<P>);
  // Windows over one, two and three dimensions, with strides and padding; few channels and fours.
  for (int const channels : {1, 3, 8})
    for (int const outputs : {5, 12}) {
      Window line, square, cube;
      line.size[2] = 4;
      line.stride[2] = 3;
      line.padding[2] = 2;
      square.size[1] = square.size[2] = 3;
      square.padding[1] = square.padding[2] = 1;
      cube.size[0] = cube.size[2] = 2;
      cube.size[1] = 3;
      cube.stride[1] = cube.stride[2] = 2;
      cube.padding[0] = cube.padding[1] = 1;
      compare_contraction<P, ByMma>({5, Shape{channels, 19}, outputs, line}, true, errors<P>);
      if constexpr (has_mfma<P>)
        compare_contraction<P, ByMfma>({5, Shape{channels, 19}, outputs, line}, true, errors<P>);
      compare_contraction<P, ByMma>({3, Shape{channels, 9, 7}, outputs, square}, true, errors<P>);
      if constexpr (has_mfma<P>)
        compare_contraction<P, ByMfma>({2, Shape{channels, 4, 5, 6}, outputs, cube}, false,
                                       errors<P>);
    }
  compare_contraction<P, ByMma>({0, Shape{3, 9, 7}, 5, whole}, true, errors<P>);
}

TEST_CASE_TEMPLATE("gpu: gradients of parameters by parts of the batch", P,
                   PHYLLO_TEST_INSTRUCTION_PRECISIONS) {
  Window square;
  square.size[1] = square.size[2] = 3;
  square.padding[1] = square.padding[2] = 1;
  // The number of parts is none of steps' and blocks'; of the bias alone; of neither.
  for (int const batch : {1024, 1700, 5000}) {
    if (!all_cases && batch == 5000) break;
    compare_contraction<P, ByMma>({batch, Shape{6}, 5, {}}, true, errors<P>);
    if constexpr (has_mfma<P>)
      compare_contraction<P, ByMfma>({batch, Shape{70}, 33, {}}, batch != 1700, errors<P>);
  }
  compare_contraction<P, ByMma>({30, Shape{2, 11, 9}, 7, square}, true, errors<P>);
  if constexpr (has_mfma<P>)
    compare_contraction<P, ByMfma>({40, Shape{3, 9, 7}, 34, square}, true, errors<P>);
}

TEST_CASE("gpu: narrow layers have many parts, wide ones few, and all fit the workspace") {
  using Parts = gpu::DepthParts;
  auto const of = [](long inputs, long outputs, long depth, int tile = 64) {
    Parts const parts(inputs, outputs, depth, tile, true);
    CHECK(parts.weight * inputs * outputs <= (parts.weight > 1 ? Parts::weight_count : 1L << 40));
    CHECK(parts.bias * outputs <=
          (parts.bias > 1 ? Parts::partial_count - Parts::weight_count : 1L << 40));
    return parts;
  };
  CHECK(of(25, 6, 4096 * 784).weight == 256);  // the first convolution of LeNet
  CHECK(of(25, 6, 4096 * 784).bias == 1024);
  CHECK(of(1024, 1024, 16384).weight == 1);  // a wide layer fills the device
  CHECK(of(1024, 1024, 16384).bias == 32);
  CHECK(of(1024, 1024, 16384, 128).weight == 4);  // by wider blocks
  CHECK(of(65, 65, 100'000).weight == 64);        // parts of blocks that are mostly empty
  CHECK(of(500, 300, 2000).weight == 3);
  CHECK(of(64, 64, 500).weight == 1);  // a small batch
  CHECK(Parts(25, 6, 4096 * 784, 64, false).weight == 1);
}

TEST_CASE_TEMPLATE("gpu: products with an epilogue", P, PHYLLO_TEST_INSTRUCTION_PRECISIONS) {
  int pick = 0;
  for (int const batch : {0, 1, 49})
    for (int const outputs : {1, 20, 33, 130}) {
      bool const training = pick % 5 < 3;
      Epilogue const with{pick % 2 == 0, pick % 3 == 0, training, training};
      ++pick;
      compare_epilogue<op::Chain<ReLU>, P, ByMma>(batch, Shape{100}, outputs, with);
      if constexpr (has_mfma<P>)
        compare_epilogue<op::Chain<GELU, Dropout<0.25>, Tanh>, P, ByMfma>(batch, Shape{17}, outputs,
                                                                          with);
    }
  compare_epilogue<op::Chain<Dropout<0.5>, GELU>, P, ByMma>(7, Shape{33, 3, 5}, 34,
                                                            {true, true, true, true});
}
