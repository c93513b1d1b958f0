// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Checkpoint: this communication policy keeps numbers of its own between steps

#include <phyllo/comm/lag.hpp>
#include <phyllo/fit/checkpoints.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/loss/mean_squared_error.hpp>

using namespace phyllo;
struct Net : Network<Input<3>, Linear<5>> {};

// Its sums are late, and it does not say how they are stored.
struct Forgets : Lag<1, Local> {
  using Lag::Lag;
  void own_state() = delete;
};

void save() {
  Trainer<Net, MeanSquaredError, Sgd, Full<float>, Forgets> trainer(Kokkos::DefaultExecutionSpace{},
                                                                    Local{}, Sgd{});
  save_training(trainer, "training.safetensors");
}

int main() {}
