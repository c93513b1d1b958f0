// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/transfer.hpp>
#include <phyllo/op/transpose.hpp>
#include <phyllo/op/upsample.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

template <class P> struct copy_channels {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Copy::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    long const r = item / work.channels;
    long const c = item % work.channels;
    A const x = A(work.x[r * work.x_channels + work.from + c]);
    S& y = work.y[r * work.y_channels + work.to + c];
    y = S(work.accumulate ? A(y) + x : x);
  }
};

template <class P> struct transpose_sample {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Transpose::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    long const size = long(work.rows) * work.columns;
    long const n = at / size, i = at % size;
    long const c = i / work.rows, r = i % work.rows;  // y is (N, columns, rows)
    A const x = A(work.x[n * size + r * work.columns + c]);
    work.y[at] = S(work.accumulate ? A(work.y[at]) + x : x);
  }
};

template <class P> struct upsample_forward {
  op::Upsample::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const channels = work.output.channels;
    int const c = int(at % channels);
    long const row = at / channels;
    Place const q(work.output, int(row % work.output.positions()));
    int p = 0;
    for (int d = 0; d < 3; ++d)
      p = p * work.input.spatial[d] + q.at[d] / (work.output.spatial[d] / work.input.spatial[d]);
    long const n = row / work.output.positions();
    work.y[at] = work.x[(n * work.input.positions() + p) * channels + c];
  }
};

template <class P> struct upsample_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Upsample::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const channels = work.input.channels;
    int const c = int(at % channels);
    long const row = at / channels;
    Place const p(work.input, int(row % work.input.positions()));
    long const n = row / work.input.positions();
    int factor[3];
    for (int d = 0; d < 3; ++d) factor[d] = work.output.spatial[d] / work.input.spatial[d];
    A sum = work.accumulate ? A(work.d_x[at]) : A(0);
    for (int d = 0; d < factor[0]; ++d)
      for (int h = 0; h < factor[1]; ++h)
        for (int w = 0; w < factor[2]; ++w) {
          long const q =
              ((p.at[0] * factor[0] + d) * work.output.spatial[1] + p.at[1] * factor[1] + h) *
                  work.output.spatial[2] +
              p.at[2] * factor[2] + w;
          sum += A(work.d_y[(n * work.output.positions() + q) * channels + c]);
        }
    work.d_x[at] = S(sum);
  }
};

/// The caller's order: channels innermost, so that the slot is written contiguously.
template <class P> struct transfer_load {
  using A = typename P::accumulate;
  op::Transfer::Load<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.shape.channels);
    long const row = at / work.shape.channels;
    Place const p(work.shape, int(row % work.shape.positions()));
    work.slot[at] = typename P::storage(
        work.source.template read<A>(row / work.shape.positions(), c, p.at[0], p.at[1], p.at[2]));
  }
};

template <class P> struct transfer_store {
  using A = typename P::accumulate;
  op::Transfer::Store<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.shape.channels);
    long const row = at / work.shape.channels;
    Place const p(work.shape, int(row % work.shape.positions()));
    work.target.write(row / work.shape.positions(), c, p.at[0], p.at[1], p.at[2], A(work.slot[at]));
  }
};

template <class P> struct Kernels<op::Copy, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Copy::Forward<P> const& work) {
    launch(exec, label, work.rows * work.channels, copy_channels<P>{work});
  }
};

template <class P> struct Kernels<op::Transpose, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Transpose::Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.rows * work.columns, transpose_sample<P>{work});
  }
};

template <class P> struct Kernels<op::Upsample, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Upsample::Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.output.size(), upsample_forward<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Upsample::Backward<P> const& work) {
    launch(exec, label, long(work.batch) * work.input.size(), upsample_backward<P>{work});
  }
};

template <class P> struct Kernels<op::Transfer, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Transfer::Load<P> const& work) {
    launch(exec, label, long(work.batch) * work.shape.size(), transfer_load<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Transfer::Store<P> const& work) {
    launch(exec, label, long(work.batch) * work.shape.size(), transfer_store<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
