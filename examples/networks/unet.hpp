// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

// clang-format off
namespace networks {

template <int Width> struct skip;  // what the encoder saves at each level

template <int Width> using DoubleConvolution = phyllo::Path<
    phyllo::Repeat<2, phyllo::Path<phyllo::Conv2d<Width, phyllo::Padding<1>, phyllo::Bias<false>>, phyllo::BatchNorm<>, phyllo::ReLU>>>;

/// A level of the U and those below it, at half its extents each.
template <int Width, int... Below> struct UNetLevels {
  using type = phyllo::Path<
      DoubleConvolution<Width>, phyllo::Save<skip<Width>>, phyllo::MaxPool2d<2>,
      typename UNetLevels<Below...>::type,
      phyllo::ConvTranspose2d<Width, phyllo::KernelSize<2>, phyllo::Stride<2>>, phyllo::ConcatFrom<skip<Width>>,
      DoubleConvolution<Width>>;
};
template <int Width> struct UNetLevels<Width> {
  using type = DoubleConvolution<Width>;
};

/// U-Net, with borders and batch normalisation, which the original has not: 31,036,481 parameters
/// with the widths of the original, 64 to 1024, one channel and one class.
///
/// shape    (N, Channels, Height, Width) -> (N, Classes, Height, Width); extents that two divides
///          as often as there are levels below the first one
/// source   Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical Image
///          Segmentation", MICCAI 2015; Ioffe and Szegedy, "Batch Normalization", ICML 2015
template <int Channels, int Height, int Width, int Classes, int... Widths>
struct UNet : phyllo::Network<
    phyllo::Input<Channels, Height, Width>,
    typename UNetLevels<Widths...>::type,
    phyllo::Conv2d<Classes, phyllo::KernelSize<1>>> {};

}  // namespace networks
// clang-format on
