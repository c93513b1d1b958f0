// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/backend/portable/loss.hpp>
#include <phyllo/backend/reference/loss.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>

#include <backend/portable/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

template <class T> struct TypeOf;
template <> struct TypeOf<double> {
  static constexpr ElementType value = ElementType::f64;
};
template <> struct TypeOf<std::int32_t> {
  static constexpr ElementType value = ElementType::i32;
};
template <> struct TypeOf<std::uint8_t> {
  static constexpr ElementType value = ElementType::u8;
};

// Row-major targets (N, channels, S...).
template <class T> ExternalTensor targets(std::vector<T>& v, int channels, Shape const& s) {
  ExternalTensor t;
  t.data[0] = v.data();
  t.type = TypeOf<T>::value;
  t.spatial_stride[2] = 1;
  t.spatial_stride[1] = s.spatial[2];
  t.spatial_stride[0] = std::ptrdiff_t(s.spatial[1]) * s.spatial[2];
  t.channel_stride = s.positions();
  t.sample_stride = std::ptrdiff_t(s.positions()) * channels;
  return t;
}

template <class L, class P, class T> void compare_loss(SizeRow const& pick) {
  using Op = op::Loss<L>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  typename Op::template Evaluate<P> work;
  work.batch = pick.row % 11 == 5 ? 0 : pick(0);
  int const channels = pick(1), other = pick(2, 5);
  work.shape = pick.row % 2 == 0 ? Shape{channels} : Shape{channels, other, pick(3, 4)};
  long const size = long(work.batch) * work.shape.size();
  auto const outputs = numbers<S>(size, 1);
  int const target_channels = L::classes ? 1 : channels;
  std::vector<T> wanted(std::size_t(work.batch) * target_channels * work.shape.positions());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = T(random_uniform(3, 0, 0, i, 0) * float(channels));
  StepState const state{.loss_scale = 1024};
  work.weight = 0.75f;
  work.outputs = outputs.data();
  work.targets = targets(wanted, target_channels, work.shape);
  work.state = pick.row % 2 == 0 ? &state : nullptr;
  work.accumulate_gradient = pick.row % 3 == 0;
  work.accumulate_values = pick.row % 3 == 1;
  double const sums_bound = bound<Full<A>>();
  auto const values =
      output<A>(work.batch, work.accumulate_values, [](auto& w, A* p) { w.values = p; });
  auto const hits = output<A>(work.batch, [](auto& w, A* p) { w.hits = p; });
  compare<Op, P>(work, sums_bound, values);
  compare<Op, P>(work, sums_bound, values, hits);
  double const gradient_bound = bound<P>();
  compare<Op, P>(work, gradient_bound, values, hits,
                 output<S>(size, work.accumulate_gradient, [](auto& w, S* p) { w.d_outputs = p; }));
}

}  // namespace

TEST_CASE_TEMPLATE("portable: losses", P, PHYLLO_TEST_PRECISIONS) {
  for_size_rows([](SizeRow const& pick) {
    compare_loss<CrossEntropy, P, std::int32_t>(pick);
    compare_loss<CrossEntropy, P, std::uint8_t>(pick);
    compare_loss<MeanSquaredError, P, double>(pick);
  });
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
