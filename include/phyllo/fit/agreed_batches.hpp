// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/position_tensor.hpp>
#include <phyllo/policy/agreement.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

// Refuses batches whose ranks would wait for each other in vain or use samples twice, by the same
// Error on all ranks: parts of global batches have one order. Where each rank has all batches of a
// source of its own, they only make as many steps. Collective; two small sums.
template <class T, class In, class Out, class Space, bool IsCopied>
void agree_on_batches(T& trainer, Batches<In, Out, Space, IsCopied> const& batches,
                      std::string const& what) {
  if (trainer.sums().size() == 1) return;
  Agreement mine;
  auto const add = [&](char const* name, std::uint64_t value) {
    mine.add(name, std::to_string(value));
  };
  add("parts of each batch", std::uint64_t(batches.ranks()));
  if (batches.ranks() > 1)
    for (BatchFact const& fact : batch_facts(batches)) add(fact.name, fact.value);
  add("steps of an epoch", std::uint64_t(batches.steps()));
  add("position: epoch", batches.position().epoch);
  add("position: step", std::uint64_t(batches.position().step));
  agree(trainer.exec(), trainer.sums(), what + " of " + trainer.model().name(), mine,
        "Make the Batches of one source and one set of BatchOptions on all ranks, each at the same "
        "position.");
}
// Views: each rank passes a share of any size.
template <class T, class H> void agree_on_batches(T&, H const&, std::string const&) {}

}  // namespace phyllo::inline PHYLLO_ISA::detail
