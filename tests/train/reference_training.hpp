// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>
#include <train/reference_rules.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace phyllo::test {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Labels = Kokkos::View<int*, Kokkos::HostSpace>;
using Numbers = std::vector<double>;

/// Samples with targets of both sorts.
struct Samples {
  Matrix x, t;
  Labels label;
  int size() const { return int(x.extent(0)); }
};

/// Mean squared error and cross-entropy of one sample, and their gradients.
template <bool Classes>
double loss_of(double const* y, Samples const& b, int n, int outputs, double* d_y = nullptr) {
  double loss = 0;
  if constexpr (Classes) {
    double largest = y[0], sum = 0;
    for (int c = 1; c < outputs; ++c) largest = y[c] > largest ? y[c] : largest;
    for (int c = 0; c < outputs; ++c) sum += std::exp(y[c] - largest);
    loss = largest + std::log(sum) - y[b.label(n)];
    for (int c = 0; c < outputs && d_y != nullptr; ++c)
      d_y[c] = std::exp(y[c] - largest) / sum - (c == b.label(n) ? 1 : 0);
  } else {
    for (int c = 0; c < outputs; ++c) {
      double const apart = y[c] - b.t(n, c);
      loss += apart * apart / outputs;
      if (d_y != nullptr) d_y[c] = 2 * apart / outputs;
    }
  }
  return loss;
}

/// What a trainer does, in plain loops: gradients are those of a model by hand with backend
/// reference, all else is written here.
template <class Net, class Rule, bool Classes> class ReferenceTraining {
  using M =
      Model<Net, Full<double>, Execution<Space, Backends<ReferenceBackend>, FusionLevel::none>>;

 public:
  static constexpr auto table = network_tensors(M::nodes);
  static constexpr int outputs = M::AllPorts::output_shape(0).channels;

  /// Everything that a checkpoint contains.
  struct State {
    Numbers weights, buffers;
    std::vector<RuleNumbers> moments;
    std::uint64_t steps = 0, skipped = 0;
    std::vector<int> updates;    // of each tensor
    std::optional<double> rate;  // in place of the rule's
    double last_rate = 0;
  };
  State state;
  // What the program says again after it has loaded one.
  Clipping clipping;
  std::vector<ParameterGroup> groups{std::size_t(table.size)};
  std::vector<bool> frozen = std::vector<bool>(std::size_t(table.size));

  ReferenceTraining(Rule const& rule, Clipping const& limits, int capacity)
      : clipping(limits), rule_(rule), model_(Space(), {.batch = capacity}) {
    state.updates.resize(std::size_t(table.size));
  }
  void begin(Numbers const& weights, Numbers const& buffers) {
    state.weights = weights;
    state.buffers = buffers;
    state.moments.resize(weights.size());
  }

  /// Running statistics are those behind each micro-batch, and those before all where the step does
  /// not count.
  void accumulate(Samples const& b) {
    if (parts_++ == 0) {
      before_ = state.buffers;
      sum_.assign(state.weights.size(), 0);
      loss_ = 0;
      samples_ = 0;
      labels_ = true;
    }
    for (int n = 0; Classes && n < b.size(); ++n)
      labels_ = labels_ && b.label(n) >= 0 && b.label(n) < outputs;
    add_gradients(b);
    samples_ += b.size();
  }

  /// The mean loss over all samples of the step.
  double step(Samples const& last) {
    accumulate(last);
    parts_ = 0;
    bool counts = labels_ && samples_ > 0;
    double const samples = double(samples_), loss = loss_ / samples;
    Numbers& sum = sum_;
    double squares = 0;
    for (int t = 0; counts && t < table.size; ++t)
      for (int i = first(t); i < behind(t); ++i) {
        double& g = sum[std::size_t(i)];
        g = frozen[std::size_t(t)] ? 0 : g / samples;
        squares += g * g;
      }
    for (double const g : sum) counts = counts && std::isfinite(g);
    if (!counts) {
      ++state.skipped;
      state.buffers = before_;
      return loss;
    }
    double const norm = std::sqrt(squares), most = clipping.largest_value;
    double const factor = std::min(1.0, clipping.largest_norm / (norm + 1e-6));
    for (double& g : sum) g = std::max(-most, std::min(most, g * factor));
    state.last_rate = state.rate.value_or(rule_.rate) * rule_.schedule.factor(state.steps);
    ++state.steps;
    for (int t = 0; t < table.size; ++t)
      if (!frozen[std::size_t(t)]) update(t, sum);
    return loss;
  }

  /// Mean loss in inference mode of given weights and statistics.
  double evaluate(Samples const& b, Numbers const& weights, Numbers const& buffers) {
    Matrix const y = outputs_of(b, weights, buffers);
    double loss = 0;
    for (int n = 0; n < b.size(); ++n) loss += loss_of<Classes>(&y(n, 0), b, n, outputs);
    return loss / b.size();
  }

 private:
  static int first(int t) { return table.tensor[t].offset; }
  static int behind(int t) { return table.tensor[t].offset + table.tensor[t].count; }

  void set(Numbers const& weights, Numbers const& buffers) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      model_.master()(i) = weights[i];
      model_.parameters()(i) = weights[i];
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) model_.buffers()(i) = float(buffers[i]);
    model_.weights_changed(exec_);
  }
  Matrix outputs_of(Samples const& b, Numbers const& weights, Numbers const& buffers) {
    set(weights, buffers);
    Matrix const y("y", std::size_t(b.size()), std::size_t(outputs));
    model_.infer(exec_, b.x, y);
    exec_.fence("reference training");
    return y;
  }
  void add_gradients(Samples const& b) {
    if (b.size() == 0) return;
    set(state.weights, state.buffers);
    Matrix const y("y", std::size_t(b.size()), std::size_t(outputs)), d_y("d_y", y.layout());
    model_.forward(exec_, b.x, y);
    exec_.fence("reference training");
    for (int n = 0; n < b.size() && labels_; ++n)
      loss_ += loss_of<Classes>(&y(n, 0), b, n, outputs, &d_y(n, 0));
    model_.backward(exec_, d_y, b.size());
    exec_.fence("reference training");
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += model_.gradients()(i);
    for (std::size_t i = 0; i < state.buffers.size(); ++i)
      state.buffers[i] = double(model_.buffers()(i));
  }
  void update(int t, Numbers const& gradients) {
    ParameterGroup const& group = groups[std::size_t(t)];
    Rule own = rule_;
    if (group.weight_decay) own.weight_decay = *group.weight_decay;
    auto const part = [&](auto const& all) {
      return std::decay_t<decltype(all)>(all.begin() + first(t), all.begin() + behind(t));
    };
    Numbers w = part(state.weights);
    auto moments = part(state.moments);
    reference_step(own, state.last_rate * group.rate_factor, w, part(gradients), moments,
                   ++state.updates[std::size_t(t)], table.tensor[t].use);
    std::copy(w.begin(), w.end(), state.weights.begin() + first(t));
    std::copy(moments.begin(), moments.end(), state.moments.begin() + first(t));
  }

  Space exec_;
  Rule rule_;
  M model_;
  // Of the micro-batches since the last step.
  int parts_ = 0;
  Numbers before_, sum_;  // running statistics; gradients
  double loss_ = 0;
  long samples_ = 0;
  bool labels_ = true;  // in their range
};

}  // namespace phyllo::test
