// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/data/batches.hpp>
#include <phyllo/fit/stored_numbers.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::detail {

// What the order of batches depends on.
struct BatchFact {
  char const* name;
  std::uint64_t value;
};
template <class B> std::vector<BatchFact> batch_facts(B const& batches) {
  BatchOptions const& o = batches.options();
  return {{"samples", std::uint64_t(batches.samples())},
          {"batch", std::uint64_t(o.batch)},
          {"seed", o.seed},
          {"shuffle", std::uint64_t(o.shuffle)},
          {"lanes", std::uint64_t(o.lanes)},
          {"a window of one lane of", std::uint64_t(batches.order().lane_window())},
          {"blocks of", std::uint64_t(batches.order().block())},
          {"last_batch", std::uint64_t(o.last_batch)}};
}

// The position of batches and all that their order depends on, as a tensor of a file.
template <class B> class PositionTensor {
 public:
  static void add(B const& batches, TensorFile& file) {
    std::vector<std::uint64_t> numbers = {batches.position().epoch,
                                          std::uint64_t(batches.position().step)};
    for (BatchFact const& fact : batch_facts(batches)) numbers.push_back(fact.value);
    add_numbers(file, name, numbers);
  }
  // Refuses batches in another order than those of the file.
  static void check(B const& batches, TensorFile const& file, std::string const& who) {
    auto const expected = batch_facts(batches);
    auto const numbers =
        numbers_of<std::uint64_t>(file, name, std::int64_t(expected.size() + 2), who);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (numbers[i + 2] != expected[i].value)
        throw Error(who + ": expected batches with " + expected[i].name + " " +
                    std::to_string(numbers[i + 2]) + " as in the checkpoint, got " +
                    std::to_string(expected[i].value) +
                    ". Resume with the source and the BatchOptions that wrote it.");
    if (numbers[1] >= std::uint64_t(batches.steps()))
      throw Error(who + ": expected a step below " + std::to_string(batches.steps()) + ", got " +
                  std::to_string(numbers[1]) + ". The checkpoint is damaged.");
  }
  static void restore(B& batches, TensorFile const& file, std::string const& who) {
    auto const numbers = numbers_of<std::uint64_t>(file, name, -1, who);
    batches.seek({numbers[0], long(numbers[1])});
  }

 private:
  static constexpr char const* name = "phyllo.position";
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
