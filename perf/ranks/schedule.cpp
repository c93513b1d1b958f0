// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One JSON object for each network: what its type says about a step on many ranks. With COUNT...:
// in how many sums so many floats travel by Mpi's own messages.

#include "sums_of_step.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

template <class Net> void print(char const* name) {
  constexpr perf::Schedule<Net> schedule;
  auto const table = phyllo::parameter_table<Net>();
  auto const tensors =
      std::count_if(table.begin(), table.end(), [](auto const& entry) { return !entry.is_buffer; });
  std::printf("{\"network\": \"%s\", \"parameters\": %d, \"tensors\": %d, \"buffers\": %d, ", name,
              Net::parameter_count, int(tensors), Net::program::nodes.buffer_size);
  std::printf("\"forward_flops\": %.0f, \"flops\": %.0f, \"whole_step\": %s, \"bytes\": %ld, ",
              double(Net::program::nodes.flops), perf::training_flops<Net>(),
              schedule.whole_step ? "true" : "false", schedule.total);
  std::printf("\"buckets\": [");
  for (int k = 0; k < schedule.count; ++k)
    std::printf("%s[%ld, %.6f]", k == 0 ? "" : ", ", schedule.bytes[k], schedule.ready[k]);
  std::printf("], \"sums\": [");
  char const* separator = "";
  for (perf::SumOfStep const& sum : perf::sums_of_step<Net>()) {
    std::printf("%s[%ld, %.6f]", separator, sum.bytes, sum.ready);
    separator = ", ";
  }
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char* argv[]) {
  for (int i = 1; i < argc; ++i) std::printf("%zu\n", perf::pieces(std::atol(argv[i])).size());
  if (argc > 1) return 0;
  print<perf::Mlp>("mlp");
  print<perf::LeNet>("lenet");
  print<perf::WideMlp>("wide-mlp");
  print<networks::ResNet18>("resnet18");
}
