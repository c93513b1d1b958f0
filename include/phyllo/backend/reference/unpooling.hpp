// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/unpooling.hpp>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Unpooling, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Unpooling::Forward<P> const& work) {
    wait(exec);
    for (long i = 0; i < long(work.batch) * work.image_shape.size(); ++i) work.y[i] = S(A(0));
    for_each_maximum(work, [&](long window, long maximum) { work.y[maximum] = work.x[window]; });
  }
  template <class Space>
  static void run(Space const& exec, std::string const&, op::Unpooling::Backward<P> const& work) {
    wait(exec);
    for_each_maximum(work, [&](long window, long maximum) {
      A const d = A(work.d_y[maximum]);
      work.d_x[window] = S(work.accumulate ? A(work.d_x[window]) + d : d);
    });
  }

 private:
  // visit(number of the window, number of its maximum) for each window of each channel and sample.
  template <class Work, class Visit>
  static void for_each_maximum(Work const& work, Visit const& visit) {
    Shape const image = work.image_shape, pooled = work.pooled;
    Window const& w = work.window;
    int q[3];
    for (int n = 0; n < work.batch; ++n)
      for (q[0] = 0; q[0] < pooled.spatial[0]; ++q[0])
        for (q[1] = 0; q[1] < pooled.spatial[1]; ++q[1])
          for (q[2] = 0; q[2] < pooled.spatial[2]; ++q[2])
            for (int c = 0; c < image.channels; ++c) {
              long best = -1;
              for (int tap = 0; tap < w.taps(); ++tap) {
                int const t[3] = {tap / w.size[2] / w.size[1], tap / w.size[2] % w.size[1],
                                  tap % w.size[2]};
                long position = n;
                bool inside = true;
                for (int d = 0; d < 3; ++d) {
                  int const at = q[d] * w.stride[d] - w.padding[d] + t[d];
                  inside = inside && at >= 0 && at < image.spatial[d];
                  position = position * image.spatial[d] + at;
                }
                if (!inside) continue;
                long const i = position * image.channels + c;
                bool const is_larger = best < 0 || A(work.image[i]) > A(work.image[best]);
                if (is_larger || (is_nan(work.image[i]) && !is_nan(work.image[best]))) best = i;
              }
              long const row = ((n * long(pooled.spatial[0]) + q[0]) * pooled.spatial[1] + q[1]) *
                                   pooled.spatial[2] +
                               q[2];
              visit(row * image.channels + c, best);
            }
  }
  static bool is_nan(S value) { return A(value) != A(value); }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
