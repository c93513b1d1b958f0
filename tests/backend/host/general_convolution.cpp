// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// General convolutions as products of matrices, and by vectors of channels where each is a group,
// against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/portable/general_convolution.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

struct StrideAndDilation {
  int stride, dilation;
};

}  // namespace

TEST_CASE_TEMPLATE("openmp: general convolutions", P, PHYLLO_TEST_PRECISIONS) {
  compare_general_convolutions<P, host::Kernels>(all_cases ? 1 : 3);
}
TEST_CASE("openmp: general convolutions with an epilogue") {
  for_size_rows([](SizeRow const& pick) {
    if (pick.row % 11 == 0)
      compare_general_convolution<op::Chain<GELU, Dropout<0.3>>, Full<float>, host::Kernels>(
          general_convolution(pick, 2));
  });
}
TEST_CASE("openmp: channels at and around the vectors of a depthwise convolution") {
  for (int const channels : {15, 16, 63, 64, 65, 130})
    for (int const stride : {1, 2}) {
      GeneralConvolutionCase c;
      c.batch = 2;
      c.image = Shape{channels, 9, 8};
      c.outputs = c.options.groups = channels;
      for (int d = 1; d < 3; ++d) {
        c.options.window.size[d] = 3;
        c.options.window.stride[d] = stride;
        c.options.window.padding[d] = c.options.after[d] = 1;
      }
      compare_general_convolution<op::Chain<>, Full<float>, host::Kernels>(c);
      compare_general_convolution<op::Chain<GELU>, Mixed<bf16, float>, host::Kernels>(c);
    }
}
TEST_CASE("openmp: narrow groups row by row") {
  // Windows, strides and dilations; of one channel, and of groups whose outputs are whole vectors.
  int row = 0;
  for (int const size : {1, 2, 3, 5, 7})
    for (auto const [stride, dilation] :
         {StrideAndDilation{1, 1}, StrideAndDilation{2, 1}, StrideAndDilation{3, 1},
          StrideAndDilation{1, 2}, StrideAndDilation{1, 3}, StrideAndDilation{2, 2},
          StrideAndDilation{4, 2}}) {
      GeneralConvolutionCase c;
      int const members = row % 3 == 0 ? 16 : 1, groups = members == 1 ? 5 + 8 * (row % 4) : 2;
      c.batch = 1 + row % 2;
      c.image = Shape{members * groups, 3 + row % 4, 6 + 3 * (row % 5)};
      c.outputs = members * groups * (members > 1 && row % 2 == 1 ? 2 : 1);
      c.options.groups = groups;
      c.options.mode = PaddingMode(row % 4);
      for (int d = 1; d < 3; ++d) {
        c.options.window.size[d] = size;
        c.options.window.stride[d] = stride;
        c.options.dilation[d] = dilation;
        int const reach = (size - 1) * dilation, extent = c.image.spatial[d];
        int const most = reach < extent ? reach : extent - 1;
        c.options.window.padding[d] = (most + 1) / 2;
        c.options.after[d] = most - (most + 1) / 2;
        if (extent + most < reach + 1) c.options.window.size[d] = 1;
      }
      compare_general_convolution<op::Chain<>, Full<float>, host::Kernels>(c);
      if (row % 7 == 1) compare_general_convolution<op::Chain<>, Full<double>, host::Kernels>(c);
      if (row % 7 == 2)
        compare_general_convolution<op::Chain<GELU>, Mixed<bf16, float>, host::Kernels>(c);
      ++row;
    }
}
TEST_CASE("openmp: narrow groups of rows that no cache holds") {
  for (int const stride : {1, 2}) {
    GeneralConvolutionCase c;
    c.batch = 1;
    c.image = Shape{72, 1, 6001};
    c.outputs = c.options.groups = 72;
    c.options.window.size[2] = 3;
    c.options.window.stride[2] = stride;
    c.options.window.padding[2] = c.options.after[2] = 1;
    compare_general_convolution<op::Chain<>, Full<float>, host::Kernels>(c);
  }
}
TEST_CASE("openmp: groups that divide vectors of channels, or are divided by them") {
  // Channels of a group, of its outputs, and groups.
  struct Groups {
    int channels, outputs, count;
  };
  int row = 0;
  for (auto const [channels, outputs, count] : {Groups{2, 2, 40},
                                                {4, 4, 8},
                                                {4, 4, 32},
                                                {8, 8, 6},
                                                {16, 16, 5},
                                                {32, 32, 2},
                                                {3, 3, 16},
                                                {4, 16, 3},
                                                {16, 4, 4},
                                                {1, 2, 32},
                                                {5, 32, 2}}) {
    GeneralConvolutionCase c;
    c.batch = 2;
    c.image = Shape{channels * count, 6, 11};
    c.outputs = outputs * count;
    c.options.groups = count;
    c.options.mode = PaddingMode(row % 4);
    for (int d = 1; d < 3; ++d) {
      c.options.window.size[d] = 3;
      c.options.window.stride[d] = 1 + row % 2;
      c.options.dilation[d] = 1 + row % 3 / 2;
      c.options.window.padding[d] = c.options.after[d] = c.options.dilation[d];
    }
    compare_general_convolution<op::Chain<>, Full<float>, host::Kernels>(c);
    compare_general_convolution<op::Chain<>, Full<double>, host::Kernels>(c);
    compare_general_convolution<op::Chain<GELU>, Mixed<bf16, float>, host::Kernels>(c);
    ++row;
  }
}
TEST_CASE("openmp: dilated and transposed convolutions across panels and blocks") {
  for (int const rate : {2, 6, 20})
    for (bool const strided : {false, true}) {
      GeneralConvolutionCase c;
      c.batch = 3;
      c.image = Shape{33, 17, 19};
      c.outputs = 40;
      for (int d = 1; d < 3; ++d) {
        c.options.window.size[d] = strided ? 2 : 3;
        c.options.window.stride[d] = strided ? rate : 1;
        c.options.dilation[d] = strided ? 1 : rate;
        c.options.window.padding[d] = c.options.after[d] = strided ? 0 : rate;
      }
      compare_general_convolution<op::Chain<>, Full<float>, host::Kernels>(c);
      compare_general_convolution<op::Chain<GELU>, Full<double>, host::Kernels>(c);
    }
}

#endif
