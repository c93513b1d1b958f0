// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/transfer.hpp>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Copy, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Copy::Forward<P> const& work) {
    wait(exec);
    for (long r = 0; r < work.rows; ++r)
      for (int c = 0; c < work.channels; ++c) {
        A const x = A(work.x[r * work.x_channels + work.from + c]);
        S& y = work.y[r * work.y_channels + work.to + c];
        y = S(work.accumulate ? A(y) + x : x);
      }
  }
};

template <class P> struct Kernels<op::Transfer, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Visitor> static void visit(int batch, Shape const& s, Visitor const& visitor) {
    long at = 0;
    for (int n = 0; n < batch; ++n)
      for (int d = 0; d < s.spatial[0]; ++d)
        for (int h = 0; h < s.spatial[1]; ++h)
          for (int w = 0; w < s.spatial[2]; ++w)
            for (int c = 0; c < s.channels; ++c) visitor(at++, n, c, d, h, w);
  }

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Transfer::Load<P> const& work) {
    wait(exec);
    visit(work.batch, work.shape, [&](long at, int n, int c, int d, int h, int w) {
      work.slot[at] = S(work.source.template read<A>(n, c, d, h, w));
    });
  }
  template <class Space>
  static void run(Space const& exec, std::string const&, op::Transfer::Store<P> const& work) {
    wait(exec);
    visit(work.batch, work.shape, [&](long at, int n, int c, int d, int h, int w) {
      work.target.write(n, c, d, h, w, A(work.slot[at]));
    });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
