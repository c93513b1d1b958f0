// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks whose shapes stand at the edge of what the planner may fuse: Linear layers that read a
// whole image, images of one channel, windows with padding on one position.

#include <fusion/boundaries.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
struct LinearOnImage : Network<Input<3, 4, 4>, Flatten, Linear<10>, ReLU, Linear<3>> {};
struct WideOnImage : Network<Input<2, 8, 9>, Flatten, Linear<10>, ReLU, Linear<3>> {};
struct WholeConvolution : Network<Input<6, 2, 2>, Conv2d<4, KernelSize<2>>, ReLU, Flatten, Linear<3>> {};
struct OneChannel : Network<Input<1, 8, 8>, Flatten, Linear<32>, ReLU, Linear<10>> {};
struct OneChannelJoined : Network<Input<1, 2, 3>, Branch<Path<Flatten, Tanh>, Path<Flatten>>, Linear<5>, ReLU, Linear<2>> {};
struct OnePosition1d : Network<Input<3, 1>, Conv1d<4, Padding<1>>, ReLU, Flatten, Linear<3>> {};
struct OnePosition2d : Network<Input<6, 1, 1>, Conv2d<4, Padding<1>>, Flatten, Linear<3>> {};
struct OnePosition3d : Network<Input<2, 1, 1, 1>, Conv3d<4, Padding<1>>, ReLU, Conv3d<3, KernelSize<3, 1, 3>, Padding<1, 0, 1>>, Flatten, Linear<3>> {};
struct PaddedTap : Network<Input<3, 1>, Conv1d<4, KernelSize<1>, Padding<1>, Stride<3>>, ReLU, Conv1d<2, KernelSize<1>>> {};
struct AverageOfOne : Network<Input<3, 1>, AveragePool1d<2, Padding<1>, Stride<2>>, ReLU, Flatten, Linear<3>> {};
struct PooledToOne : Network<Input<2, 4, 4>, Conv2d<4, Padding<1>>, ReLU, MaxPool2d<4>, Conv2d<5, Padding<1>>, ReLU, Flatten, Linear<3>> {};
struct Sixteen : Network<Input<1>, Repeat<16, Linear<1>>, Linear<1>, BatchNorm<>> {};
// clang-format on
using Portable = Execution<Space, Backends<PortableBackend>>;

}  // namespace

TEST_CASE("boundaries: a Linear layer or a convolution that reads a whole image") {
  compare_with_reference<LinearOnImage>();
  compare_with_reference<LinearOnImage, Kokkos::LayoutLeft>();
  compare_with_reference<LinearOnImage, Kokkos::LayoutRight, Portable>();
  compare_with_reference<WideOnImage>();
  compare_with_reference<WholeConvolution>();
}
TEST_CASE("boundaries: images of one channel, read as rows") {
  compare_with_reference<OneChannel>();
  compare_with_reference<OneChannel, Kokkos::LayoutLeft>();
  compare_with_reference<OneChannelJoined>();
}
TEST_CASE("boundaries: windows with padding on one position") {
  compare_with_reference<OnePosition1d>();
  compare_with_reference<OnePosition2d>();
  compare_with_reference<OnePosition3d>();
  compare_with_reference<PaddedTap>();
  compare_with_reference<AverageOfOne>();
  compare_with_reference<PooledToOne>();
}
TEST_CASE("boundaries: a folded layer at the most layers of a segment") {
  compare_with_reference<Sixteen>();
}
