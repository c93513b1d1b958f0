// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <backend/portable/scan_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: scans", P, PHYLLO_TEST_PRECISIONS) {
  compare_cells<P, portable::Kernels>();
}

namespace {

// With weights in registers, as on devices; here a team is one thread.
template <class Op, class P> struct WithHeldWeights;
template <class Cell, int Hidden, class P> struct WithHeldWeights<op::Scan<Cell, Hidden>, P> {
  using Kernels = portable::Kernels<op::Scan<Cell, Hidden>, P>;
  using Op = op::Scan<Cell, Hidden>;
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    Kernels::template launch_scan<true>(exec, label,
                                        portable::scan_forward<Cell, Hidden, P, 2, true>{work}, 2);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    Kernels::template launch_scan<true>(exec, label,
                                        portable::scan_backward<Cell, Hidden, P, 2, true>{work}, 2);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("portable: scans with weights in registers", P, PHYLLO_TEST_PRECISIONS) {
  compare_cells<P, WithHeldWeights>();
}
