// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/transfer.hpp>
#include <phyllo/op/transpose.hpp>
#include <phyllo/op/upsample.hpp>

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

template <class P> struct Kernels<op::Transpose, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Transpose::Forward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n) {
      long const base = long(n) * work.rows * work.columns;
      for (int r = 0; r < work.rows; ++r)
        for (int c = 0; c < work.columns; ++c) {
          A const x = A(work.x[base + r * work.columns + c]);
          S& y = work.y[base + c * work.rows + r];
          y = S(work.accumulate ? A(y) + x : x);
        }
    }
  }
};

template <class P> struct Kernels<op::Upsample, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  // Position of the input that output position q is copied from.
  static int source(Shape const& input, Shape const& output, int q) {
    int const w = q % output.spatial[2], h = q / output.spatial[2] % output.spatial[1],
              d = q / output.spatial[2] / output.spatial[1];
    int const fd = output.spatial[0] / input.spatial[0], fh = output.spatial[1] / input.spatial[1],
              fw = output.spatial[2] / input.spatial[2];
    return (d / fd * input.spatial[1] + h / fh) * input.spatial[2] + w / fw;
  }

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Upsample::Forward<P> const& work) {
    wait(exec);
    int const channels = work.input.channels;
    for (int n = 0; n < work.batch; ++n)
      for (int q = 0; q < work.output.positions(); ++q)
        for (int c = 0; c < channels; ++c)
          work.y[(long(n) * work.output.positions() + q) * channels + c] =
              work.x[(long(n) * work.input.positions() + source(work.input, work.output, q)) *
                         channels +
                     c];
  }

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Upsample::Backward<P> const& work) {
    wait(exec);
    int const channels = work.input.channels;
    for (int n = 0; n < work.batch; ++n)
      for (int p = 0; p < work.input.positions(); ++p)
        for (int c = 0; c < channels; ++c) {
          S& d_x = work.d_x[(long(n) * work.input.positions() + p) * channels + c];
          A sum = work.accumulate ? A(d_x) : A(0);
          for (int q = 0; q < work.output.positions(); ++q)
            if (source(work.input, work.output, q) == p)
              sum += A(work.d_y[(long(n) * work.output.positions() + q) * channels + c]);
          d_x = S(sum);
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
