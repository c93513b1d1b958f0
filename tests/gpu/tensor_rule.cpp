// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: update rules with sums over tensors and with groups alone, and
// groups of any rule's parameters; orthogonal weights; losses that ignore
// positions or read several channels for each target.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>
#include <train/trust_ratio.hpp>

struct GpuTensors : phyllo::Network<phyllo::Input<16>, phyllo::Linear<16>> {};

template <class Rule, class P> void update_by_tensors() {
  Kokkos::DefaultExecutionSpace exec;
  using M = phyllo::Model<GpuTensors, P>;
  M model(exec, {.batch = 8});
  phyllo::Optimizer<Rule, M> optimizer(exec, model, Rule{});
  optimizer.set_frozen(exec, 1);
  optimizer.update(exec, model);
}

template <class Rule> void update_by_groups() {
  Kokkos::DefaultExecutionSpace exec;
  using M = phyllo::Model<GpuTensors, phyllo::Full<float>>;
  M model(exec, {.batch = 8});
  phyllo::Optimizer<Rule, M> optimizer(exec, model, Rule{});
  model.initialize(exec, phyllo::Orthogonal{});
  optimizer.set_group(exec, phyllo::ParameterSelection::biases_and_norms(), {.weight_decay = 0});
  optimizer.update(exec, model);
}

struct GpuTriples : phyllo::Network<phyllo::Input<16>, phyllo::Linear<15>> {};

template <class L, class Net = GpuTensors, class Targets> void train_by(Targets const& targets) {
  Kokkos::DefaultExecutionSpace exec;
  phyllo::Trainer<Net, L, phyllo::AdamW> trainer(exec, phyllo::AdamW{}, {.batch = 8});
  trainer.step(Kokkos::View<float**>("inputs", 8, 16), targets);
}

void gpu_tensor_rules() {
  PHYLLO_IN_VERIFY(train_by<phyllo::MaskedCrossEntropy<>>(Kokkos::View<int*>("targets", 8));
                   train_by<phyllo::GaussianLikelihood>(Kokkos::View<float**>("targets", 8, 8));
                   train_by<phyllo::TripletMargin, GpuTriples>(phyllo::no_targets);
                   train_by<phyllo::UnitGaussianDivergence>(phyllo::no_targets);
                   train_by<phyllo::Dice>(Kokkos::View<float**>("targets", 8, 16));)
  update_by_groups<phyllo::AdamW>();
  PHYLLO_IN_VERIFY(update_by_groups<phyllo::Lamb>();)
  update_by_tensors<phyllo::test::TrustRatio, phyllo::Mixed<phyllo::bf16, float>>();
  PHYLLO_IN_VERIFY(update_by_tensors<phyllo::test::TrustRatio, phyllo::Full<float>>();)
  PHYLLO_IN_VERIFY(update_by_tensors<phyllo::test::TwoRates, phyllo::Full<float>>();)
}
