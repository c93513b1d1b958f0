// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions as products of matrices that read their windows where they stand, against plain
// loops: windows of any size, stride and padding, runs of channels at and around vectors, rows of
// taps across panels and blocks, every type of number, the whole epilogue.

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

Window square(int size, int stride, int padding) {
  Window w;
  for (int d = 1; d < 3; ++d) {
    w.size[d] = size;
    w.stride[d] = stride;
    w.padding[d] = padding;
  }
  return w;
}

// Of one size in depth, height and width, with stride and padding where there is more than one tap.
Window box(int depth, int height, int width, int stride, int padding) {
  Window w;
  int const size[3] = {depth, height, width};
  for (int d = 0; d < 3; ++d) {
    w.size[d] = size[d];
    w.stride[d] = size[d] > 1 ? stride : 1;
    w.padding[d] = size[d] > 1 ? padding : 0;
  }
  return w;
}

}  // namespace

TEST_CASE_TEMPLATE("openmp: convolutions of rank 1", P, Full<double>, Mixed<bf16, float>) {
  for_size_rows([](SizeRow const& pick) {
    compare_contraction<P, host::Kernels>(convolution(pick, 1), pick.row % 2 == 0);
  });
}
TEST_CASE_TEMPLATE("openmp: convolutions of ranks 2 and 3", P, Full<float>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Mixed<fp16, float>)) {
  for_size_rows([](SizeRow const& pick) {
    compare_contraction<P, host::Kernels>(convolution(pick, 2), pick.row % 2 == 0);
    compare_contraction<P, host::Kernels>(convolution(pick, 3), pick.row % 2 == 1);
  });
  ContractionCase none = convolution({0, 0, 0}, 2);
  none.batch = 0;
  compare_contraction<P, host::Kernels>(none, true);
}

TEST_CASE_TEMPLATE("openmp: windows that networks have", P, PHYLLO_TEST_PRECISIONS) {
  int pick = 0;
  for (int const channels : {1, 3, 6, 17, 64})
    for (Window const& w :
         {square(1, 2, 0), square(3, 1, 1), square(3, 2, 1), square(7, 2, 3), square(2, 3, 0),
          box(1, 5, 1, 1, 2), box(1, 1, 5, 1, 0), box(3, 3, 3, 1, 1), box(3, 3, 3, 2, 1)}) {
      bool const deep = w.size[0] > 1;
      int const outputs[] = {1, 6, 33, 64, 70}, batches[] = {1, 3, 2};
      Shape const input = deep ? Shape{channels, 4, 5, 3} : Shape{channels, 9, 11};
      compare_contraction<P, host::Kernels>({batches[pick % 3], input, outputs[pick % 5], w},
                                            pick % 2 == 0);
      ++pick;
    }
}

TEST_CASE_TEMPLATE("openmp: convolutions of several blocks and pieces", P, PHYLLO_TEST_PRECISIONS) {
  // Several blocks of rows; of columns; of rows of the gradient by weights. More parts of the
  // depth than one in every pass. Padding wider than the window, and strides beyond it.
  compare_contraction<P, host::Kernels>({2, Shape{17, 17, 15}, 33, square(3, 1, 1)}, true);
  compare_contraction<P, host::Kernels>({1, Shape{32, 5, 5}, 530, square(3, 1, 1)}, true);
  compare_contraction<P, host::Kernels>({1, Shape{530, 4, 4}, 34, square(3, 2, 1)}, false);
  compare_contraction<P, host::Kernels>({2, Shape{3, 41, 43}, 64, square(7, 2, 3)}, true);
  compare_contraction<P, host::Kernels>({3, Shape{40, 5, 5}, 40, square(2, 1, 3)}, true);
  compare_contraction<P, host::Kernels>({3, Shape{40, 10, 10}, 40, square(2, 4, 1)}, true);
}

TEST_CASE_TEMPLATE("openmp: convolutions with an epilogue", P, PHYLLO_TEST_PRECISIONS) {
  int pick = 0;
  for (int const batch : {0, 1, 5})
    for (int const outputs : {1, 17, 70}) {
      bool const training = pick % 5 < 3;
      Epilogue const with{pick % 2 == 0, pick % 3 == 0, training, training};
      ++pick;
      compare_epilogue<op::Chain<ReLU>, P, host::Kernels>(batch, Shape{17, 7, 5}, outputs, with,
                                                          square(3, 1, 1));
      compare_epilogue<op::Chain<GELU, Dropout<0.25>, Tanh>, P, host::Kernels>(
          batch, Shape{3, 9, 9}, outputs, with, square(3, 2, 1));
    }
}

#endif
