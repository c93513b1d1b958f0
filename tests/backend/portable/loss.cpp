// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/backend/portable/loss.hpp>

#include <backend/portable/loss_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: losses", P, PHYLLO_TEST_PRECISIONS) {
  compare_losses<CrossEntropy, P, std::int32_t>();
  compare_losses<CrossEntropy, P, std::uint8_t>();
  compare_losses<MeanSquaredError, P, double>();
  // Vectors of several registers, and rows of several chunks.
  for (int const channels : {63, 64, 65, 127, 128, 200, 2048, 2049, 5000})
    compare_loss<CrossEntropy, P, std::int32_t>(3, {channels}, channels);
}

TEST_CASE_TEMPLATE("portable: sums of losses", P, Full<double>, Full<float>) {
  using A = typename P::accumulate;
  for (int const few : sizes)
    for (int const batch : {0, few, 64 * few, 64 * few + 1}) {
      auto const values = numbers<A>(batch, 1), hits = numbers<A>(batch, 2);
      for (bool const counted : {false, true}) {
        op::LossSum<P> work;
        work.batch = batch;
        work.values = values.data();
        work.hits = counted ? hits.data() : nullptr;
        compare<op::LossSum<P>, P>(
            work, bound<P>(), output<A>(3, [](auto& w, A* p) { w.sums = p; }),
            workspace<A>(3 * op::LossSum<P>::blocks, [](auto& w, A* p) { w.partial = p; }));
      }
    }
}
