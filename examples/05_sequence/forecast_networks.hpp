// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "lorenz96.hpp"

#include <phyllo/phyllo.hpp>

/// Times that a forecast reads.
inline constexpr int window = 24;

// Both read (sites, window) and predict for each time how much the state changes until the next
// one.

/// A recurrent network: what it knows of the past is its state.
struct RecurrentForecast : phyllo::Network<phyllo::Input<lorenz96::sites, window>, phyllo::LSTM<80>,
                                           phyllo::Linear<lorenz96::sites, phyllo::PerPosition>> {};

/// A Transformer: each time attends to those before it.
struct AttentiveForecast
    : phyllo::Network<phyllo::Input<lorenz96::sites, window>,
                      phyllo::Linear<48, phyllo::PerPosition>, phyllo::SinusoidalPositions<>,
                      phyllo::TransformerEncoderLayer<48, 4, 96, phyllo::Causal, phyllo::NormFirst>,
                      phyllo::TransformerEncoderLayer<48, 4, 96, phyllo::Causal, phyllo::NormFirst>,
                      phyllo::LayerNorm<>, phyllo::Linear<lorenz96::sites, phyllo::PerPosition>> {};
