// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/agreed_clock.hpp>
#include <phyllo/fit/fit_options.hpp>
#include <phyllo/fit/from_first_batch.hpp>
#include <phyllo/fit/metrics.hpp>
#include <phyllo/model/bind.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// What `measure` computes: Metrics<R2, AbsoluteError>{}.
template <class... M> struct Metrics {};

namespace detail {
template <class Metric> struct MetricResult {
  decltype(Metric::value(nullptr, 0)) value;
};
}  // namespace detail

/// The values of metrics: values.get<R2>().
template <class... M> struct MetricValues : detail::MetricResult<M>... {
  template <class Metric> auto const& get() const {
    return static_cast<detail::MetricResult<Metric> const&>(*this).value;
  }
};

/// Sums of a metric over blocks of samples, each in the order of its samples; behind them the
/// positions whose class does not exist. One work item: one block.
template <class Metric> struct SumMetric {
  ExternalTensor outputs, targets;
  Shape shape;
  long samples = 0;
  int blocks = 1, count = 0;
  double* sums = nullptr;  // (blocks, count + 1), zero
  Metric metric = {};

  KOKKOS_FUNCTION void operator()(int block) const {
    double* const own = sums + long(block) * (count + 1);
    for (long n = samples * block / blocks; n < samples * (block + 1) / blocks; ++n)
      for (int p = 0; p < shape.positions(); ++p) {
        MetricRow const row(outputs, targets, shape, n, p);
        if constexpr (Metric::classes)
          if (row.label() < 0 || row.label() >= shape.channels) {
            own[count] += 1;
            continue;
          }
        metric.add(row, own);
      }
  }
};

namespace detail {

template <class Metric>
inline constexpr bool is_one_number = std::is_same_v<decltype(Metric::value(nullptr, 0)), double>;

// Whether parts of a metric are merged by a function of its own instead of being added.
template <class Metric>
inline constexpr bool merges =
    requires(double const* other, double* sums) { Metric::merge(other, sums, 1); };

// The names of those metrics that are one number, and their values.
template <class... M> std::vector<std::string> names_of(Metrics<M...>) {
  std::vector<std::string> names;
  (void(is_one_number<M> ? names.push_back(M::name) : void()), ...);
  return names;
}
template <class Metric> void add_number(std::vector<MetricValue>& numbers, auto const& values) {
  if constexpr (is_one_number<Metric>)
    numbers.push_back({Metric::name, values.template get<Metric>()});
}
template <class... M> std::vector<MetricValue> numbers_of(MetricValues<M...> const& values) {
  std::vector<MetricValue> numbers;
  (add_number<M>(numbers, values), ...);
  return numbers;
}

// Sums of metrics over samples that come in parts, on all ranks.
template <class T, class... M> class MetricSums {
  using Model = typename T::ModelType;
  using Space = typename T::space;
  static_assert(Model::AllPorts::outputs == 1,
                "measure: expected a network with one output. Measure a network that ends there.");
  static constexpr Shape shape = Model::AllPorts::output_shape(0);

 public:
  explicit MetricSums(T& trainer) : trainer_(trainer) { trainer.synchronize(); }

  template <class In, class Targets> void add(In const& inputs, Targets const& targets) {
    auto const& exec = trainer_.exec();
    Argument const who{trainer_.model().name(), ", target", 0};
    int const samples = batch_of(targets, who);
    using Outputs =
        Kokkos::View<typename T::accumulate**, Kokkos::LayoutRight, typename Space::memory_space>;
    Outputs const outputs("phyllo: outputs", std::size_t(samples), std::size_t(shape.size()));
    trainer_.model().infer(exec, inputs, outputs);
    ExternalTensor const y = bind_input<Space>(outputs, shape, who);
    std::size_t k = 0;
    (add_one<M>(y, targets, who, samples, sums_[k++]), ...);
  }
  MetricValues<M...> values() { return values_of(std::index_sequence_for<M...>{}); }

 private:
  template <std::size_t... K> MetricValues<M...> values_of(std::index_sequence<K...>) {
    // In braces: ranks sum in one order.
    return MetricValues<M...>{MetricResult<M>{value_of<M>(sums_[K])}...};
  }
  template <class Metric, class Targets>
  void add_one(ExternalTensor const& outputs, Targets const& targets, Argument const& who,
               int samples, std::vector<double>& sums) {
    constexpr int count = Metric::sums(shape.channels), most = 1 << 20;
    SumMetric<Metric> work;
    work.outputs = outputs;
    if constexpr (Metric::classes)
      work.targets = bind_classes<Space>(targets, shape, who);
    else
      work.targets = bind_input<Space>(targets, shape, who);
    work.shape = shape;
    work.samples = samples;
    work.blocks = std::min({std::max(samples, 1), 256, most / (count + 1) + 1});
    work.count = count;
    Kokkos::View<double**, Kokkos::LayoutRight, typename Space::memory_space> const parts(
        "phyllo: sums of a metric", std::size_t(work.blocks), std::size_t(count + 1));
    work.sums = parts.data();
    Kokkos::parallel_for(launch_label(trainer_.model().name() + "/measure"),
                         Kokkos::RangePolicy<Space>(trainer_.exec(), 0, work.blocks), work);
    trainer_.exec().fence("phyllo: measure");
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, parts);
    sums.resize(std::size_t(count + 1));
    for (std::size_t b = 0; b < host.extent(0); ++b) merge<Metric>(&host(b, 0), sums.data());
  }
  // The numbers of a metric and the count behind them.
  template <class Metric> static void merge(double const* other, double* sums) {
    constexpr int count = Metric::sums(shape.channels);
    if constexpr (merges<Metric>)
      Metric::merge(other, sums, shape.channels);
    else
      for (int i = 0; i < count; ++i) sums[i] += other[i];
    sums[count] += other[count];
  }
  // Numbers that are not sums are merged in the order of the ranks.
  template <class Metric> void merge_ranks(std::vector<double>& sums) {
    std::size_t const ranks = std::size_t(trainer_.sums().size()), size = sums.size();
    std::vector<double> all(ranks * size, 0.0);
    std::copy(sums.begin(), sums.end(),
              all.begin() + std::ptrdiff_t(std::size_t(trainer_.sums().rank()) * size));
    sum_over_ranks(trainer_, all.data(), long(all.size()));
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t r = 0; r < ranks; ++r) merge<Metric>(&all[r * size], sums.data());
  }
  template <class Metric> auto value_of(std::vector<double>& sums) {
    constexpr int count = Metric::sums(shape.channels);
    sums.resize(std::size_t(count + 1));
    if constexpr (merges<Metric>)
      merge_ranks<Metric>(sums);
    else
      sum_over_ranks(trainer_, sums.data(), count + 1);
    if (sums.back() > 0)
      throw Error("measure: " + trainer_.model().name() + ": expected class indices from 0 to " +
                  std::to_string(shape.channels - 1) + ", got " +
                  std::to_string(long(sums.back())) + " others. Check the targets.");
    return Metric::value(sums.data(), shape.channels);
  }

  T& trainer_;
  std::array<std::vector<double>, sizeof...(M)> sums_;
};

}  // namespace detail

/// Metrics in inference mode over the samples of all ranks; every rank calls it with its share:
/// measure(trainer, x, t, Metrics<R2, AbsoluteError>{}).get<R2>().
///
/// options  M: metrics, of the library or your own: a trivially copyable struct with `name`,
///          `classes` (targets are class indices), `sums(channels)`, how many numbers it sums,
///          `add(row, sums)` for each position of each sample, and `value(sums, channels)`.
///          `merge(other, sums, channels)` where the numbers of two parts are not to be added
/// threads  as Trainer
/// errors   compile: a network with several outputs · run: class indices out of range -> Error on
///          all ranks; those of infer
/// numerics sums in double, in an order that depends on the number of samples and ranks alone
/// cost     the outputs of all samples in memory; one pass over them for each metric
template <class T, class In, class Targets, class... M>
MetricValues<M...> measure(T& trainer, In const& inputs, Targets const& targets, Metrics<M...>) {
  detail::MetricSums<T, M...> sums(trainer);
  sums.add(inputs, targets);
  return sums.values();
}
template <class T, class In, class Targets, class... M>
MetricValues<M...> measure(T& trainer, HeldOut<In, Targets> const& held_out,
                           Metrics<M...> metrics) {
  return measure(trainer, held_out.inputs, held_out.targets, metrics);
}
/// The same over epoch 0 of batches, batch by batch; their position is afterwards as before.
template <class T, class In, class Targets, class Space, class... M>
MetricValues<M...> measure(T& trainer, Batches<In, Targets, Space>& batches, Metrics<M...>) {
  detail::FromFirstBatch const kept(batches);
  detail::MetricSums<T, M...> sums(trainer);
  for (auto const& batch : batches.epoch(0)) sums.add(batch.inputs, batch.targets);
  return sums.values();
}

}  // namespace phyllo::inline PHYLLO_ISA
