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

namespace {

// Rows shared by teams, which devices run; here a team is one thread.
template <class Op, class P> struct ByTeams;
template <class L, class P> struct ByTeams<op::Loss<L>, P> {
  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    portable::launch_by_teams(exec, label, work.batch, work.shape.channels,
                              portable::loss_evaluate<L, P>{work});
  }
};

// Parts of samples by teams, rows by a thread or by its lanes.
template <bool Few> struct Parts {
  template <class Op, class P> struct By;
  template <class L, class P> struct By<op::Loss<L>, P> {
    template <class Space, class Work>
    static void run(Space const& exec, std::string const& label, Work work) {
      std::vector<typename P::accumulate> partial(
          std::size_t(2 * work.batch * op::loss_parts(work.shape)));
      work.partial = partial.data();
      portable::launch_parts<Few, L, P>(exec, label, work);
      exec.fence();
    }
  };
};

template <class L, class P, class T, template <class, class> class Kernels>
void compare_parts(bool few) {
  for (int const positions : {2, 31, 33, 65, 513, 1030})
    for (int const channels : {1, 3, few ? 63 : 64}) {
      if (positions > 100 && channels > 3) continue;
      for (int variant = 0; variant < 6; variant += positions < 60 ? 1 : 6)
        compare_loss<L, P, T, Kernels>(2, {channels, positions}, variant);
    }
}

}  // namespace

TEST_CASE_TEMPLATE("portable: losses by parts of samples", P, PHYLLO_TEST_PRECISIONS) {
  compare_parts<CrossEntropy, P, std::int32_t, Parts<true>::template By>(true);
  compare_parts<MeanSquaredError, P, double, Parts<true>::template By>(true);
  compare_parts<CrossEntropy, P, std::int32_t, Parts<false>::template By>(false);
  compare_parts<MeanSquaredError, P, double, Parts<false>::template By>(false);
  // As many parts as there are, and a sum that rounds number by number.
  compare_loss<MeanSquaredError, P, double, Parts<true>::template By>(1, {1, 40000}, 0);
}

TEST_CASE_TEMPLATE("portable: losses by teams", P, PHYLLO_TEST_PRECISIONS) {
  for (int const channels : {1, 2, 10, 63, 64, 1000, 5000})
    for (int variant = 0; variant < 6; ++variant) {
      compare_loss<CrossEntropy, P, std::int32_t, ByTeams>(5, {channels}, variant);
      compare_loss<MeanSquaredError, P, double, ByTeams>(5, {channels}, variant);
    }
}

TEST_CASE("the parts of a softmax sum, empty ones and infinities among them") {
  using Sum = op::SoftmaxSum<double>;
  double const infinity = std::numeric_limits<double>::infinity();
  Sum const nothing{0, 0}, three{3, 2}, five{5, 1}, of_infinities{-infinity, 0};
  CHECK(op::joined(nothing, three).sum == 2);
  CHECK(op::joined(three, nothing).largest == 3);
  CHECK(op::joined(of_infinities, five).largest == 5);
  for (Sum const& s : {op::joined(three, five), op::joined(five, three)}) {
    CHECK(s.largest == 5);
    CHECK(s.sum == doctest::Approx(1 + 2 * std::exp(-2.0)));
  }
  CHECK(std::isnan(op::joined(five, Sum{std::nan(""), 1}).sum));
  CHECK(std::isnan(op::joined(Sum{std::nan(""), 1}, five).sum));
}

TEST_CASE_TEMPLATE("portable: sums of losses", P, Full<double>, Full<float>) {
  for (int const few : sizes)
    for (int const batch : {0, few, 64 * few, 64 * few + 1})
      compare_loss_sums<P, portable::Kernels>(batch);
}
