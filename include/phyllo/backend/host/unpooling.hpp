// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/maximum_backward.hpp>
#include <phyllo/backend/portable/unpooling.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// One work item: a row of windows, some channels at a time.
template <class P> struct unpooling_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Unpooling::Backward<P> work;

  void operator()(long row) const {
    int const *const extent = work.pooled.spatial, height = extent[1];
    Shape const& image = work.image_shape;
    long const n = row / (extent[0] * height);
    int const channels = image.channels;
    Range window[] = {places_of(work.window, image, 0, int(row / height % extent[0])),
                      places_of(work.window, image, 1, int(row % height)),
                      {}};
    S* d_x = work.d_x + row * extent[2] * channels;
    for (int q = 0; q < extent[2]; ++q, d_x += channels) {
      window[2] = places_of(work.window, image, 2, q);
      each_channel_block(0, channels, [&]<int Count>(int c, int some) {
        compute<Count>(n * image.size() + c, window, some, d_x + c);
      });
    }
  }

 private:
  template <int Count>
  PHYLLO_INLINE_ON_HOST void compute(long from, Range const (&window)[3], int some, S* d_x) const {
    using Channels = ChannelVectors<A>;
    Shape const& image = work.image_shape;
    FirstMaxima<A> maxima;
    maxima.template find<Count>(work.image + from, image, window, some);
    Channels sum = Channels::zero();
    for (int i = window[0].begin; i < window[0].end; ++i)
      for (int j = window[1].begin; j < window[1].end; ++j)
        for (int k = window[2].begin; k < window[2].end; ++k) {
          long const tap = from + position_of(image, i, j, k) * image.channels;
          sum.add(maxima.take(Channels::template load<Count>(work.image + tap, some),
                              Channels::template load<Count>(work.d_y + tap, some)));
        }
    if (work.accumulate) sum.add(Channels::template load<Count>(d_x, some));
    sum.template store<Count>(d_x, some);
  }
};

template <class P> struct Kernels<op::Unpooling, P> {
  /// Values go where the gradients of the maxima would.
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Unpooling::Forward<P> const& work) {
    typename maximum_backward<P>::Work places;
    places.batch = work.batch;
    places.input = work.image_shape;
    places.output = work.pooled;
    places.window = work.window;
    places.x = work.image;
    places.d_y = work.x;
    places.d_x = work.y;
    maximum_backward<P> const tiles(places);
    portable::launch(exec, label, tiles.items(), tiles);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Unpooling::Backward<P> const& work) {
    Shape const& pooled = work.pooled;
    portable::launch(exec, label, long(work.batch) * pooled.spatial[0] * pooled.spatial[1],
                     unpooling_backward<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
