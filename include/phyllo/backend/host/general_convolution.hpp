// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_convolution.hpp>
#include <phyllo/backend/host/channel_weights.hpp>
#include <phyllo/backend/host/gemm/convolution_epilogue.hpp>
#include <phyllo/backend/host/gemm/matrix_product.hpp>
#include <phyllo/backend/host/gemm/product_epilogue.hpp>
#include <phyllo/backend/host/gemm/stride_phase.hpp>
#include <phyllo/backend/host/gemm/tap_operand.hpp>
#include <phyllo/backend/host/gemm/tap_region.hpp>
#include <phyllo/backend/host/gemm/taps_operand.hpp>
#include <phyllo/backend/host/gemm/vector_product.hpp>
#include <phyllo/backend/host/gemm/window_operand.hpp>
#include <phyllo/backend/host/row_convolution.hpp>
#include <phyllo/backend/host/row_weights.hpp>
#include <phyllo/backend/portable/general_convolution.hpp>

#include <climits>

namespace phyllo::inline PHYLLO_ISA::host {

/// General convolutions as products of matrices, one for each group; narrow groups row by row, or
/// by vectors of channels.
template <class Chain, class P>
struct Kernels<op::GeneralConvolution<Chain>, P>
    : portable::Kernels<op::GeneralConvolution<Chain>, P> {
  using Op = op::GeneralConvolution<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Portable = portable::Kernels<Op, P>;
  using Epilogue = ConvolutionEpilogue<Chain, P>;
  static constexpr KernelTraits traits = {.thread_bytes = long(product_bytes)};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Gather<P> const& work) {
    ConvolutionShape const& s = work.shape;
    bool const narrow = Op::is_narrow(s), depthwise = s.groups == s.image.channels;
    if ((narrow || depthwise) && by_rows<false>(exec, label, work)) return;
    if (narrow) return by_channels<false>(exec, label, work);
    TapRegion::for_each(s, [&](TapRegion const& region) {
      for (int g = 0; g < s.groups; ++g)
        launch_product<VectorProduct<A, TapOperand<S, true>>>(
            exec, label, taps<true>(s, region, work.x, work.batch, g),
            TapRows<S>(work.weight + long(g) * s.grid_channels(), s.grid.channels,
                       s.image_channels(), s, region),
            Epilogue{work.result, region.reached(s), s.grid.channels, long(g) * s.grid_channels(),
                     s.grid.positions()},
            work.memory, long(work.batch) * region.positions(), s.grid_channels(),
            long(region.taps()) * s.image_channels());
    });
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Spread<P> const& work) {
    ConvolutionShape const& s = work.shape;
    if (s.mode != PaddingMode::zeros) return Portable::run(exec, label, work);
    if (by_rows<true>(exec, label, work)) return;
    if (s.groups > 1) return by_channels<true>(exec, label, work);
    bool dilated = false, strided = false;
    for (int d = 0; d < 3; ++d) {
      dilated = dilated || s.dilation[d] > 1;
      strided = strided || s.stride[d] > 1;
    }
    if (dilated && strided) return Portable::run(exec, label, work);
    if (dilated) return spread_dilated(exec, label, work);
    Window window;
    for (int d = 0; d < 3; ++d) {
      window.size[d] = s.size[d];
      window.stride[d] = s.stride[d];
      window.padding[d] = s.before[d];
    }
    for (int i = 0; i < StridePhase::count(window); ++i)
      spread_class(exec, label, work, StridePhase(s.image, s.grid, window, i));
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    ConvolutionShape const& s = work.shape;
    if (Op::is_narrow(s) && weights_of_blocks(exec, label, work)) {
      portable::launch(
          exec, label, s.weights(),
          portable::add_row_blocks<A>{work.partial, work.d_weight, s.weights(), Op::weight_blocks});
    } else if (TapRegion::are_worth_it(s)) {
      for (int t = 0; t < s.taps(); ++t) weights_of(exec, label, work, TapRegion::of_tap(s, t), t);
    } else {
      weights_of(exec, label, work, TapRegion::all(s), 0);
    }
    Portable::add_bias(exec, label, work);
  }

 private:
  // Whether the convolution has been computed row by row.
  template <bool ToImage, class Space, class Work>
  static bool by_rows(Space const& exec, std::string const& label, Work const& work) {
    ChannelSource<ToImage> const source{work.shape};
    row_convolution<Chain, P, ToImage> rows{
        work.batch,  {source, NarrowSums<A>(source), NarrowSums<A>::most},
        work.x,      work.weight,
        work.result, work.memory};
    if (!rows.pieces.fit()) return false;
    Shape const& to = source.to();
    long const lines = long(work.batch) * to.spatial[0] * to.spatial[1];
    rows.workers = workers_of(exec, lines < INT_MAX ? int(lines) : INT_MAX, work.memory.slices);
    if (lines > 0) launch(exec, label, rows.workers, rows);
    return true;
  }

  // Whether blocks of the batch have been summed, each by itself.
  template <class Space, class Work>
  static bool weights_of_blocks(Space const& exec, std::string const& label, Work const& work) {
    ChannelSource<false> const source{work.shape};
    int const workers = workers_of(exec, Op::weight_blocks, work.memory.slices);
    row_weights<Op, P> rows{work, {source, NarrowSums<A>(source), 1, 1}, workers};
    if (rows.pieces.fit())
      launch(exec, label, workers, rows);
    else if (channel_weights<Op, P>::fits(source))
      launch(exec, label, workers, channel_weights<Op, P>{work, source, workers});
    else
      return false;
    return true;
  }

  // A band of rows for each thread at the least, where there are as many.
  template <bool ToImage, class Space, class Work>
  static void by_channels(Space const& exec, std::string const& label, Work const& work) {
    using Functor = channel_convolution<Chain, P, ToImage>;
    ChannelSource<ToImage> const source{work.shape};
    int band = Functor::band_of(source);
    if (band == 0) return Portable::run(exec, label, work);
    Shape const& to = source.to();
    if (work.batch == 0) return;
    int const workers =
        exec.concurrency() < work.memory.slices ? int(exec.concurrency()) : work.memory.slices;
    long const others = long(work.batch) * to.spatial[0];
    while (band > 1 && others * ((to.spatial[1] + band - 1) / band) < workers)
      band = (band + 1) / 2;
    launch(
        exec, label, workers,
        Functor{work.batch, source, work.x, work.weight, work.result, work.memory, band, workers});
  }

  template <bool ByRows>
  static TapOperand<S, ByRows> taps(ConvolutionShape const& s, TapRegion const& region,
                                    S const* image, int batch, int g) {
    TapOperand<S, ByRows> operand{image + long(g) * s.image_channels(),
                                  image + long(batch) * s.image.size(),
                                  s,
                                  {},
                                  s.image_channels(),
                                  {s.dilation[0], s.dilation[1], s.dilation[2]}};
    for (int d = 0; d < 3; ++d) {
      operand.shape.size[d] = region.last[d] - region.first[d];
      operand.grid.extent[d] = region.end[d] - region.begin[d];
      operand.grid.first[d] = s.place(d, region.begin[d], region.first[d]);
      operand.grid.step[d] = s.stride[d];
      operand.grid.image[d] = s.image.spatial[d];
    }
    return operand;
  }

  // The gradients of the weights of a region's taps, from tap number `first` on.
  template <class Space, class Work>
  static void weights_of(Space const& exec, std::string const& label, Work const& work,
                         TapRegion const& region, int first) {
    ConvolutionShape const& s = work.shape;
    for (int g = 0; g < s.groups; ++g) {
      long const channel = long(g) * s.grid_channels();
      launch_product<VectorProduct<A, TapOperand<S, false>>>(
          exec, label, taps<false>(s, region, work.image, work.batch, g),
          GridRows<S>{work.grid + channel, s.grid.channels, region.reached(s)},
          ParametersEpilogue<P>{
              work.d_weight + long(first) * s.image_channels() * s.grid.channels + channel,
              s.grid.channels, nullptr},
          work.memory, long(region.taps()) * s.image_channels(), s.grid_channels(),
          long(work.batch) * region.positions());
    }
  }

  // Windows a position apart, taps further: the image is a convolution of the grid with the taps
  // from the last to the first.
  template <class Space, class Work>
  static void spread_dilated(Space const& exec, std::string const& label, Work const& work) {
    ConvolutionShape const& s = work.shape;
    ConvolutionShape read = s;
    read.image = s.grid;
    read.grid = s.image;
    for (int d = 0; d < 3; ++d) read.before[d] = (s.size[d] - 1) * s.dilation[d] - s.before[d];
    TapRegion::for_each(read, [&](TapRegion const& region) {
      TapsOperand<S> weight{work.weight, s.image.channels, s.grid.channels};
      for (int d = 0; d < 3; ++d) {
        weight.size[d] = s.size[d];
        weight.count[d] = region.last[d] - region.first[d];
        weight.last[d] = s.size[d] - 1 - region.first[d];
      }
      launch_product<VectorProduct<A, TapOperand<S, true>>>(
          exec, label, taps<true>(read, region, work.x, work.batch, 0), weight,
          Epilogue{work.result, region.reached(read), s.image.channels, 0, s.image.positions()},
          work.memory, long(work.batch) * region.positions(), s.image.channels,
          long(region.taps()) * s.grid.channels);
    });
  }

  // One class of image positions: those that the same taps of a strided window reach.
  template <class Space, class Work>
  static void spread_class(Space const& exec, std::string const& label, Work const& work,
                           StridePhase const& c) {
    ConvolutionShape const& s = work.shape;
    if (work.result.accumulate && c.tap_count() == 0) return;
    WindowOperand<S, true> const grid(work.x, work.batch, s.grid.channels, c.seen, c.taps);
    TapsOperand<S> weight{work.weight, s.image.channels, s.grid.channels};
    for (int d = 0; d < 3; ++d) {
      weight.size[d] = s.size[d];
      weight.count[d] = c.taps[d];
      weight.last[d] = c.last[d];
      weight.step[d] = s.stride[d];
    }
    launch_product<VectorProduct<A, WindowOperand<S, true>>>(
        exec, label, grid, weight,
        Epilogue{work.result, c.reached, s.image.channels, 0, s.image.positions()}, work.memory,
        long(work.batch) * c.reached.positions(), s.image.channels,
        long(c.tap_count()) * s.grid.channels);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
