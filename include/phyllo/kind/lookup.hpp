// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/lookup.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Rows of a table by index.
template <> struct Kind<Role::lookup> {
  static constexpr KindFacts facts{
      .reads_integers = true, .rereads_sources = true, .is_cheap = true};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    if (detail::exceeds_int(L::entries, n.output.channels)) {
      n.ok = false;
      n.oversized = true;
      return;
    }
    n.parameter[0] =
        ParameterTensor::vector("weight", L::entries * n.output.channels, Initial::normal);
    n.parameter[0].file[0] = L::entries;
    n.parameter[0].file[1] = n.output.channels;
    n.parameter[0].file_rank = 2;
    // op::Lookup::work_count for any number of rows; numbers of sums are no shorter than integers.
    n.partial_count = L::entries + 1 + op::Lookup::digits;
    n.sample_partial_count =
        (2 + op::Lookup::digits / op::Lookup::fewest_rows) * n.output.positions();
  }

  template <class, int> using Op = op::Lookup;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::Lookup::Forward<typename Pass::precision> work;
    work.rows = long(pass.batch) * n.output.positions();
    work.entries = Planned::template Leaf<S>::entries;
    work.channels = n.output.channels;
    work.x = pass.integers(n.source[0]);
    work.weight = pass.parameter(n.parameter[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::Lookup>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::Lookup::BackwardParameters<typename Pass::precision> work;
    work.rows = long(pass.batch) * n.output.positions();
    work.entries = Planned::template Leaf<S>::entries;
    work.channels = n.output.channels;
    work.x = pass.integers(n.source[0]);
    work.d_y = pass.template result_gradient<S>();
    work.d_weight = pass.parameter_gradient(n.parameter[0]);
    work.work = reinterpret_cast<std::int32_t*>(pass.arenas.partial);
    pass.template run<op::Lookup>(S, work);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
