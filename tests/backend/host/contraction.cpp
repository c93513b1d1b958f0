// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of matrices, blocked for the caches, against plain loops: extents at and around
// registers, panels and blocks, every type of number, the whole epilogue.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/contraction.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

constexpr int extents[] = {1, 3, 17, 33, 100, 130, 1000};
constexpr int batches[] = {0, 1, 5, 49, 300};

Window window_of(int depth, int height, int width) {
  Window w;
  w.size[0] = depth;
  w.size[1] = height;
  w.size[2] = width;
  return w;
}

}  // namespace

TEST_CASE_TEMPLATE("openmp: products of odd extents", P, PHYLLO_TEST_PRECISIONS) {
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j)
      compare_contraction<P, host::Kernels>(
          {batches[i], Shape{extents[j]}, extents[(2 * i + j) % 7], {}}, (i + j) % 2 == 0);
}

TEST_CASE_TEMPLATE("openmp: products of several blocks", P, PHYLLO_TEST_PRECISIONS) {
  compare_contraction<P, host::Kernels>({401, Shape{300}, 530, {}}, true);
  compare_contraction<P, host::Kernels>({530, Shape{401}, 40, {}}, true);
  // One part of the depth, more columns than are packed at a time.
  compare_contraction<P, host::Kernels>({401, Shape{40}, 1700, {}}, true);
}

TEST_CASE_TEMPLATE("openmp: products of few rows", P, PHYLLO_TEST_PRECISIONS) {
  int const depths[] = {1, 15, 16, 17, 130}, columns[] = {1, 7, 15, 16, 17, 31, 64, 100, 161};
  int pick = 0;
  for (int const rows : {1, 2, 3, 4, 7, 8, 13, 16, 17})
    for (int const depth : depths)
      compare_contraction<P, host::Kernels>({rows, Shape{depth}, columns[pick++ % 9], {}},
                                            pick % 2 == 0);
  // More sums than the work memory has room for.
  compare_contraction<P, host::Kernels>({16, Shape{3}, 33001, {}}, true);
}

TEST_CASE_TEMPLATE("openmp: convolutions", P, PHYLLO_TEST_PRECISIONS) {
  // One tap; a window of the whole input, as behind Flatten; and one that is neither.
  compare_contraction<P, host::Kernels>({3, Shape{17, 5, 7}, 33, {}}, true);
  compare_contraction<P, host::Kernels>({49, Shape{16, 5, 5}, 34, window_of(1, 5, 5)}, true);
  compare_contraction<P, host::Kernels>({5, Shape{3, 2, 3, 4}, 9, window_of(2, 3, 4)}, false);
  compare_contraction<P, host::Kernels>({2, Shape{3, 8, 8}, 5, window_of(1, 3, 3)}, true);
  Window strided;
  strided.stride[2] = 2;
  compare_contraction<P, host::Kernels>({2, Shape{3, 9}, 5, strided}, true);
}

TEST_CASE_TEMPLATE("openmp: products with an epilogue", P, PHYLLO_TEST_PRECISIONS) {
  int pick = 0;
  for (int const batch : {0, 1, 5, 49, 300})
    for (int const outputs : {1, 17, 33, 130}) {
      bool const training = pick % 5 < 3;
      Epilogue const with{pick % 2 == 0, pick % 3 == 0, training, training};
      ++pick;
      compare_epilogue<op::Chain<ReLU>, P, host::Kernels>(batch, Shape{100}, outputs, with);
      compare_epilogue<op::Chain<GELU, Dropout<0.25>, Tanh>, P, host::Kernels>(batch, Shape{17},
                                                                               outputs, with);
    }
  compare_epilogue<op::Chain<Dropout<0.5>, GELU>, P, host::Kernels>(7, Shape{33, 3, 5}, 34,
                                                                    {true, true, true, true});
}

#endif
