// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../suite/networks.hpp"

namespace counts {

/// A workload of perf/suite whose batch an interpreter executes in seconds. Batches of small
/// networks fill the 132 multiprocessors of an H100 with tiles of 128 rows.
template <class Net, class L, int Batch> struct Workload {
  using network = Net;
  using loss = L;  // void: inference
  static constexpr int batch = Batch;
};

using phyllo::CrossEntropy;
using phyllo::MeanSquaredError;
constexpr int one_wave = 132 * 128;

struct mlp_infer_64 : Workload<perf::Mlp64, void, 4 * one_wave> {};
struct mlp_train : Workload<perf::Mlp, MeanSquaredError, 2 * one_wave> {};
struct batchnorm_mlp_train : Workload<perf::BatchNormMlp, MeanSquaredError, one_wave> {};
struct layernorm_mlp_train : Workload<perf::LayerNormMlp, MeanSquaredError, one_wave> {};
struct lenet_train : Workload<perf::LeNet, CrossEntropy, 256> {};
struct lstm_train : Workload<perf::LstmForecast, MeanSquaredError, 256> {};
struct attention_train : Workload<perf::EncoderLayer, MeanSquaredError, 16> {};

}  // namespace counts
