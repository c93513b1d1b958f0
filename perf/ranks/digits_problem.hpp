// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <01_digits/digits_data.hpp>
#include <01_digits/digits_network.hpp>

#include <phyllo/phyllo.hpp>

#include <string>
#include <utility>

namespace perf {

/// Samples of a data set by their indices, into the first rows of a batch.
struct GatherBatch {
  DigitsData::Images images, batch_images;
  DigitsData::Labels labels, batch_labels;
  Kokkos::View<long*> indices;

  KOKKOS_FUNCTION void operator()(int n) const {
    for (int i = 0; i < 64; ++i)
      batch_images(n, 0, i / 8, i % 8) = images(indices(n), 0, i / 8, i % 8);
    batch_labels(n) = labels(indices(n));
  }
};

/// Digits as example 01 trains them: its network, batch, and rule.
class DigitsProblem {
 private:
  static auto rows(DigitsData::Images const& of, std::pair<long, long> range) {
    return Kokkos::subview(of, range, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL);
  }

 public:
  using Network = DigitsNetwork;
  using Loss = phyllo::CrossEntropy;
  using Rule = phyllo::Sgd;
  static constexpr char const* name = "digits";
  static constexpr long batch = 64;  // of all ranks

  DigitsProblem(std::string const& data, long largest_part)
      : training_(DigitsData::read(data, DigitsData::Part::training)),
        held_out_(DigitsData::read(data, DigitsData::Part::held_out)),
        images_("batch images", std::size_t(largest_part), 1, 8, 8),
        labels_("batch labels", std::size_t(largest_part)) {}

  static Rule rule(std::uint64_t steps, float rate_factor) {
    return {.rate = rate_factor * 0.05f,
            .momentum = 0.9f,
            .weight_decay = 1e-4f,
            .schedule = phyllo::cosine_schedule(steps)};
  }
  long samples() const { return training_.size(); }
  long held_out() const { return held_out_.size(); }

  template <class Space> void gather(Space const& exec, Kokkos::View<long*> indices, long count) {
    Kokkos::parallel_for(
        "gather batch", Kokkos::RangePolicy(exec, 0, int(count)),
        GatherBatch{training_.images, images_, training_.labels, labels_, indices});
  }
  auto inputs(long count) const { return rows(images_, {0, count}); }
  auto targets(long count) const {
    return Kokkos::subview(labels_, std::pair<long, long>(0, count));
  }
  auto held_out_inputs(std::pair<long, long> range) const { return rows(held_out_.images, range); }
  auto held_out_targets(std::pair<long, long> range) const {
    return Kokkos::subview(held_out_.labels, range);
  }

 private:
  DigitsData training_, held_out_;
  DigitsData::Images images_;
  DigitsData::Labels labels_;
};

}  // namespace perf
