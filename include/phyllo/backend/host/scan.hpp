// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/scan/scan_backward.hpp>
#include <phyllo/backend/host/scan/scan_forward.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Tiles of samples through all times, with the weights packed once for each thread.
template <class Cell, int Hidden, class P> struct Kernels<op::Scan<Cell, Hidden>, P> {
  using Op = op::Scan<Cell, Hidden>;
  static constexpr KernelTraits traits = {
      .thread_bytes = ScanLayout<Cell, Hidden, typename P::accumulate>::bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    run_tiles(exec, label, scan_forward<Cell, Hidden, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    run_tiles(exec, label, scan_backward<Cell, Hidden, P>{work});
  }

 private:
  template <class Space, class Functor>
  static void run_tiles(Space const& exec, std::string const& label, Functor functor) {
    int const batch = functor.work.batch;
    if (batch == 0) return;
    constexpr int rows = Functor::Layout::tile;
    functor.tiles = (batch + rows - 1) / rows;
    functor.workers = workers_of(exec, functor.tiles, functor.work.memory.slices);
    launch(exec, label, functor.workers, functor);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
