// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/network/network_tensors.hpp>
#include <phyllo/train/adam_moments.hpp>
#include <phyllo/train/schedule.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Momentum with a rate of its own for each weight tensor, for large batches: v = momentum v + rate
/// ratio (g + weight_decay w), w -= v, with ratio = trust |w| / (|g| + weight_decay |w|).
///
/// options  rate · momentum · weight_decay · trust · schedule. Biases and the tensors of
///          normalisations have the ratio one and no decay
/// state    one number per parameter, one per tensor
/// numerics on the master parameters, in Precision::accumulate; a tensor or gradient of length zero
///          has the ratio one; of the in_proj_weight of a cross-attention the part of the queries
///          and that of keys and values are tensors
/// cost     as Sgd, and one pass for the norms
/// source   You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks",
///          arXiv:1708.03888, algorithm 1
struct Lars {
  double rate = 0.1;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double momentum = 0.9;
  double weight_decay = 1e-4;
  Misspelt<Option::weight_decay> decay = {};
  double trust = 1e-3;
  Schedule schedule = {};

  static constexpr char const* name = "lars";
  static constexpr int states = 1;
  static constexpr int tensor_sums = 2, tensor_numbers = 1;

  static int group(NetworkTensor const& t) { return t.use == TensorUse::weight ? 0 : 1; }
  PHYLLO_FUNCTION void prepare(StepState&) const {}

  template <class T, class Tensor>
  PHYLLO_FUNCTION void measure(T w, T g, T*, long, StepState const&, Tensor const&,
                               T* terms) const {
    terms[0] = w * w;
    terms[1] = g * g;
  }
  template <class T, class Tensor>
  PHYLLO_FUNCTION void prepare_tensor(T const* sums, StepState const&, Tensor& tensor) const {
    T const w = square_root(sums[0]), g = square_root(sums[1]);
    bool const adapts = tensor.group == 0 && w > T(0) && g > T(0);
    tensor.numbers[0] = adapts ? T(trust) * w / (g + T(weight_decay) * w) : T(1);
  }
  template <class T, class Tensor>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long, StepState const& step,
                           Tensor const& tensor) const {
    T const decayed = tensor.group == 0 ? T(weight_decay) : T(0);
    state[0] =
        T(momentum) * state[0] + T(step.learning_rate) * tensor.numbers[0] * (g + decayed * w);
    return w - state[0];
  }
};

/// Adam with a rate of its own for each weight tensor, for large batches: w -= rate (|w| / |r|) r,
/// with r = m' / (sqrt(v') + epsilon) + weight_decay w and corrected moments m' and v'.
///
/// options  rate · beta1 · beta2 · epsilon · weight_decay · schedule. Biases and the tensors of
///          normalisations have the ratio one and no decay
/// state    two numbers per parameter, one per tensor
/// numerics on the master parameters, in Precision::accumulate; a tensor or step of length zero has
///          the ratio one
/// cost     as Adam, and one pass for the moments and norms
/// source   You et al., "Large Batch Optimization for Deep Learning", ICLR 2020, algorithm 2
struct Lamb {
  double rate = 1e-3;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double beta1 = 0.9;
  double beta2 = 0.999;
  Misspelt<Option::betas> betas = {};
  double epsilon = 1e-6;
  Misspelt<Option::epsilon> eps = {};
  double weight_decay = 1e-2;
  Misspelt<Option::weight_decay> decay = {};
  Schedule schedule = {};

  static constexpr char const* name = "lamb";
  static constexpr int states = 2;
  static constexpr int tensor_sums = 2, tensor_numbers = 1;

  static int group(NetworkTensor const& t) { return t.use == TensorUse::weight ? 0 : 1; }
  PHYLLO_FUNCTION void prepare(StepState& step) const { AdamMoments::prepare(*this, step); }

  /// The moments are those of this step from here on.
  template <class T, class Tensor>
  PHYLLO_FUNCTION void measure(T w, T g, T* state, long stride, StepState const& step,
                               Tensor const& tensor, T* terms) const {
    T const r = direction(w, AdamMoments::add(*this, g, state, stride), step, tensor);
    terms[0] = w * w;
    terms[1] = r * r;
  }
  template <class T, class Tensor>
  PHYLLO_FUNCTION void prepare_tensor(T const* sums, StepState const&, Tensor& tensor) const {
    bool const adapts = tensor.group == 0 && sums[0] > T(0) && sums[1] > T(0);
    tensor.numbers[0] = adapts ? square_root(sums[0]) / square_root(sums[1]) : T(1);
  }
  template <class T, class Tensor>
  PHYLLO_FUNCTION T update(T w, T, T* state, long stride, StepState const& step,
                           Tensor const& tensor) const {
    AdamMoments::Values<T> const moments{state[0], state[stride]};
    T const r = direction(w, moments, step, tensor);
    return w - T(step.learning_rate) * tensor.numbers[0] * r;
  }

 private:
  template <class T, class Tensor>
  PHYLLO_FUNCTION T direction(T w, AdamMoments::Values<T> const& moments, StepState const& step,
                              Tensor const& tensor) const {
    T const decayed = tensor.group == 0 ? T(weight_decay) * w : T(0);
    return AdamMoments::step_of(*this, T(1), moments, step) + decayed;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
