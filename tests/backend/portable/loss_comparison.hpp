// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/loss.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>

#include <backend/portable/comparison.hpp>

#include <cstdint>
#include <vector>

namespace phyllo::test {

// The element type of targets.
template <class T> struct TypeOf;
template <> struct TypeOf<double> {
  static constexpr ElementType value = ElementType::f64;
};
template <> struct TypeOf<float> {
  static constexpr ElementType value = ElementType::f32;
};
template <> struct TypeOf<bf16> {
  static constexpr ElementType value = ElementType::bf16;
};
template <> struct TypeOf<std::int64_t> {
  static constexpr ElementType value = ElementType::i64;
};
template <> struct TypeOf<std::int32_t> {
  static constexpr ElementType value = ElementType::i32;
};
template <> struct TypeOf<std::uint8_t> {
  static constexpr ElementType value = ElementType::u8;
};

/// Targets as their users store them: (N, channels, S...) row-major; channels last; or both with
/// gaps between the rows.
enum class TargetLayout { right, channels_last, gaps, channels_last_with_gaps };

template <class T>
ExternalTensor targets(std::vector<T>& v, int channels, Shape const& s,
                       TargetLayout layout = TargetLayout::right) {
  ExternalTensor t;
  t.data[0] = v.data();
  t.type = TypeOf<T>::value;
  bool const last =
      layout == TargetLayout::channels_last || layout == TargetLayout::channels_last_with_gaps;
  bool const gaps = layout == TargetLayout::gaps || layout == TargetLayout::channels_last_with_gaps;
  std::ptrdiff_t next = 1;
  auto const place = [&](std::ptrdiff_t& stride, int extent) {
    stride = next;
    next *= extent + int(gaps);
  };
  if (last) place(t.channel_stride, channels);
  for (int d = 2; d >= 0; --d) place(t.spatial_stride[d], s.spatial[d]);
  if (!last) place(t.channel_stride, channels);
  t.sample_stride = next;
  return t;
}

/// Values, correct and gradients of a loss on `Kernels`; `variant` picks the options of the work.
template <class L, class P, class T, template <class, class> class Kernels = portable::Kernels>
void compare_loss(int batch, Shape const& shape, int variant,
                  TargetLayout layout = TargetLayout::right) {
  CAPTURE(int(layout));
  using Op = op::Loss<L>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  typename Op::template Evaluate<P> work;
  work.batch = batch;
  work.shape = shape;
  int const channels = shape.channels;
  long const size = long(work.batch) * work.shape.size();
  auto const outputs = numbers<S>(size, 1);
  int const target_channels = L::classes ? 1 : channels / op::outputs_per_target<L>();
  std::vector<T> wanted(1);
  wanted.resize(std::size_t(batch * targets(wanted, target_channels, shape, layout).sample_stride) +
                1);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = T(random_uniform(3, 0, 0, i, 0) *
                  float(L::classes || channels < 200 ? channels : 200));  // all of them in a byte
  StepState const state{.loss_scale = 1024};
  work.weight = 0.75f;
  work.outputs = outputs.data();
  work.targets = targets(wanted, target_channels, work.shape, layout);
  work.state = variant % 2 == 0 ? &state : nullptr;
  work.accumulate_gradient = variant % 3 == 0;
  work.accumulate_values = variant % 3 == 1;
  double const sums_bound = bound<Full<A>>();
  auto const values =
      output<A>(work.batch, work.accumulate_values, [](auto& w, A* p) { w.values = p; });
  auto const correct = output<A>(work.batch, [](auto& w, A* p) { w.correct = p; });
  compare<Op, P, Kernels>(work, sums_bound, values);
  compare<Op, P, Kernels>(work, sums_bound, values, correct);
  double const gradient_bound = bound<P>();
  compare<Op, P, Kernels>(
      work, gradient_bound, values, correct,
      output<S>(size, work.accumulate_gradient, [](auto& w, S* p) { w.d_outputs = p; }));
}

/// Sizes at and around vectors, without samples too.
template <class L, class P, class T, template <class, class> class Kernels = portable::Kernels>
void compare_losses() {
  for_size_rows([](SizeRow const& pick) {
    int const channels = pick(1), other = pick(2, 5);
    compare_loss<L, P, T, Kernels>(
        pick.row % 11 == 5 ? 0 : pick(0),
        pick.row % 2 == 0 ? Shape{channels} : Shape{channels, other, pick(3, 4)}, pick.row);
  });
}

/// Sums over samples, of eighths: exact in any order.
template <class P, template <class, class> class Kernels> void compare_loss_sums(int batch) {
  CAPTURE(batch);
  using A = typename P::accumulate;
  auto values = numbers<A>(batch, 1), correct = numbers<A>(batch, 2);
  for (auto* of_samples : {&values, &correct})
    for (int n = 0; n < batch; ++n)
      of_samples->data()[n] = A(std::floor(8 * double(of_samples->data()[n])) / 8);
  for (bool const counted : {false, true}) {
    op::LossSum<P> work;
    work.batch = batch;
    work.values = values.data();
    work.correct = counted ? correct.data() : nullptr;
    compare<op::LossSum<P>, P, Kernels>(
        work, 0, output<A>(3, [](auto& w, A* p) { w.sums = p; }),
        workspace<A>(2 * op::LossSum<P>::blocks, [](auto& w, A* p) { w.partial = p; }));
  }
}

}  // namespace phyllo::test
