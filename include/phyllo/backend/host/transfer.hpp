// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>
#include <phyllo/op/transfer.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Between the caller's tensor and a slot, cut into planes that are rows of numbers of the same
/// stride: samples without positions, else the last extent of an image, of which one channel or all
/// stand in a row.
///
/// shape    one plane: (rows, columns) of the caller's -> rows of the slot, one behind the other
struct TransferPlanes {
  static constexpr int few_rows = 64;

  Shape shape;
  long planes = 0;  // in a batch
  int rows = 0;
  int columns = 0;
  long batch = 0;
  bool of_samples = false;

  TransferPlanes(long samples, Shape const& s) : shape(s), batch(samples) {
    of_samples = s.positions() == 1;
    if (of_samples) {
      rows = few_rows;
      columns = s.channels;
      planes = (batch + few_rows - 1) / few_rows;
    } else if (s.channels == 1) {
      rows = s.spatial[1];
      columns = s.spatial[2];
      planes = batch * s.spatial[0];
    } else {
      rows = s.spatial[2];
      columns = s.channels;
      planes = batch * s.spatial[0] * s.spatial[1];
    }
  }

  int rows_of(long plane) const {
    long const left = batch - plane * few_rows;
    return of_samples && left < few_rows ? int(left) : rows;
  }
  long slot_of(long plane) const { return plane * rows * columns; }

  /// The caller's tensor as one whose samples are the rows of a plane.
  ExternalTensor tensor(ExternalTensor const& t, long plane) const {
    ExternalTensor of_plane = t;
    std::ptrdiff_t offset = plane * few_rows * t.sample_stride;
    if (!of_samples) {
      bool const one_channel = shape.channels == 1;
      long const d = one_channel ? plane : plane / shape.spatial[1];
      offset = d / shape.spatial[0] * t.sample_stride + d % shape.spatial[0] * t.spatial_stride[0];
      if (!one_channel) offset += plane % shape.spatial[1] * t.spatial_stride[1];
      of_plane.sample_stride = t.spatial_stride[one_channel ? 1 : 2];
      if (one_channel) of_plane.channel_stride = t.spatial_stride[2];
    }
    for (int v = 0; v == 0 || v < t.variables; ++v)
      of_plane.data[v] = static_cast<char*>(t.data[v]) + offset * (element_bits(t.type) / 8);
    return of_plane;
  }
};

/// One work item: some planes.
template <class P> struct transfer_planes_load {
  op::Transfer::Load<P> work;
  TransferPlanes planes;
  int pieces = 1;

  void operator()(int item) const {
    for (long p = planes.planes * item / pieces; p < planes.planes * (item + 1) / pieces; ++p)
      TileTransfer<typename P::storage>::load(planes.tensor(work.source, p), 0, planes.rows_of(p),
                                              planes.columns, work.slot + planes.slot_of(p),
                                              planes.columns);
  }
};

template <class P> struct transfer_planes_store {
  op::Transfer::Store<P> work;
  TransferPlanes planes;
  int pieces = 1;

  void operator()(int item) const {
    for (long p = planes.planes * item / pieces; p < planes.planes * (item + 1) / pieces; ++p)
      TileTransfer<typename P::storage>::store(work.slot + planes.slot_of(p), planes.columns, 0,
                                               planes.rows_of(p), planes.columns,
                                               planes.tensor(work.target, p));
  }
};

template <class P> struct Kernels<op::Transfer, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Transfer::Load<P> const& work) {
    launch_planes(exec, label, transfer_planes_load<P>{work, {work.batch, work.shape}});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Transfer::Store<P> const& work) {
    launch_planes(exec, label, transfer_planes_store<P>{work, {work.batch, work.shape}});
  }

 private:
  template <class Space, class Functor>
  static void launch_planes(Space const& exec, std::string const& label, Functor f) {
    // Fewer numbers than these take no longer than it takes to start a thread.
    constexpr long worth_a_thread = 32768;
    if (f.work.batch == 0) return;
    long count = long(f.work.batch) * f.work.shape.size() / worth_a_thread;
    if (count > exec.concurrency()) count = exec.concurrency();
    if (count > f.planes.planes) count = f.planes.planes;
    f.pieces = count < 1 ? 1 : int(count);
    launch(exec, label, f.pieces, f);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
