// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/policy/trained_state.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// How weights are averaged over steps.
struct WeightAverageOptions {
  double decay = 0.999;  // of an exponential average, from 0 to 1
  bool equal = false;    // the mean of all weights so far instead
};

/// average += share (value - average).
template <class T> struct AddToAverage {
  T share = 1;
  T const* value = nullptr;
  T* average = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const { average[i] += share * (value[i] - average[i]); }
};
/// The same of current weights.
template <class T, class Storage> struct AddWeightsToAverage {
  T share = 1;
  T const* master = nullptr;
  Storage const* parameters = nullptr;
  T* average = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const {
    average[i] += share * (current_weight(master[i], parameters[i]) - average[i]);
  }
};

/// The average, rounded to what kernels read.
template <class Storage, class T> struct StoreAverage {
  T const* average = nullptr;
  T* master = nullptr;
  Storage* parameters = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const {
    master[i] = average[i];
    parameters[i] = Storage(average[i]);
  }
};

/// An average of a model's weights over steps of training, which often generalises better than the
/// last weights: update(exec, model) after a step, copy_to(exec, model) before an evaluation.
///
/// options  M: the Model; WeightAverageOptions
/// state    a copy of the master parameters and of the buffers, which are averaged alike
/// threads  one thread at a time, and none trains the model meanwhile
/// errors   run: a decay outside of 0 to 1, no room in memory -> Error
/// numerics in Precision::accumulate; the first update copies, so that no start value remains.
///          Under Sharded with a precision of two types, the shares of other ranks count as they
///          were rounded, unless Trainer::synchronize is called before
/// cost     update: two reads and one write per parameter, asynchronous
/// source   Polyak and Juditsky, SIAM J. Control Optim. 30 (1992) 838; equal weights: Izmailov et
///          al., "Averaging Weights Leads to Wider Optima and Better Generalization", UAI 2018
template <class M> class WeightAverage {
 public:
  using space = typename M::space;
  using accumulate = typename M::accumulate;

  WeightAverage(space const& exec, M const& model, WeightAverageOptions const& options = {})
      : options_(options), label_(model.name() + "/weight average") {
    if (!(options.decay >= 0 && options.decay <= 1))
      throw Error(label_ + ": the decay must be from 0 to 1, but it is " +
                  std::to_string(options.decay) + ".");
    char const* const remedy = "An average needs as much room as the master parameters.";
    weights_ = allocate<decltype(weights_)>(label_, M::nodes.arena_size, remedy, exec);
    buffers_ = allocate<decltype(buffers_)>(label_, M::nodes.buffer_size, remedy, exec);
  }

  /// Adds the model's weights as they are now.
  void update(space const& exec, M const& model) {
    ++count_;
    double const share = count_ == 1 ? 1 : options_.equal ? 1 / double(count_) : 1 - options_.decay;
    using Storage = typename M::storage;
    if constexpr (std::is_same_v<Storage, accumulate>)
      add(exec, model.master(), weights_, share);
    else
      Kokkos::parallel_for(
          label_, range(exec, weights_.size()),
          AddWeightsToAverage<accumulate, Storage>{accumulate(share), model.master().data(),
                                                   model.parameters().data(), weights_.data()});
    add(exec, model.buffers(), buffers_, share);
  }
  /// Writes the average to a model of the same network, such as a clone.
  ///
  /// errors   run: no update before -> Error
  void copy_to(space const& exec, M& model) const {
    if (count_ == 0) throw Error(label_ + ": there is no average yet. Call update after a step.");
    Kokkos::parallel_for(label_, range(exec, weights_.size()),
                         StoreAverage<typename M::storage, accumulate>{
                             weights_.data(), model.master().data(), model.parameters().data()});
    Kokkos::deep_copy(exec, model.buffers(), buffers_);
    model.weights_changed(exec);
  }
  /// Updates so far.
  std::uint64_t count() const { return count_; }

 private:
  static auto range(space const& exec, std::size_t size) {
    return Kokkos::RangePolicy<space, Kokkos::IndexType<long>>(exec, 0, long(size));
  }
  template <class View>
  void add(space const& exec, View const& value, View const& average, double share) const {
    using T = typename View::value_type;
    Kokkos::parallel_for(label_, range(exec, value.size()),
                         AddToAverage<T>{T(share), value.data(), average.data()});
  }

  WeightAverageOptions options_;
  std::string label_;
  typename M::template Vector<accumulate> weights_;
  typename M::template Vector<float> buffers_;
  std::uint64_t count_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
