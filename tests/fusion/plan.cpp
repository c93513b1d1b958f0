// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The plans of three networks, asserted: a change of fusion shows in review.

#include <phyllo/fusion/planned.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include "networks/readme.hpp"
#include "networks/resnet.hpp"
#include "networks/unet.hpp"

using networks::ResNet18;
using networks::UNet;
using phyllo::FusionLevel;
using phyllo::Phase;
using phyllo::StepKind;

namespace {

template <class Net, Phase When, FusionLevel Level = FusionLevel::segment>
constexpr auto plan = phyllo::Planned<Net, When, Level, 4>::plan;

template <class Plan> constexpr int steps_of(Plan const& p, StepKind kind) {
  int count = 0;
  for (int s = 0; s < p.size; ++s) count += p.step[s].kind == kind;
  return count;
}

// Every node with work is in exactly one step, in order.
template <class Plan> constexpr bool covers(Plan const& p) {
  int next = 0;
  for (int s = 0; s < p.size; ++s) {
    if (p.step[s].first != next) return false;
    next += p.step[s].count;
  }
  return next == p.nodes;
}

}  // namespace

// LeNet: 11 layers with work; Flatten is the window of the first Linear.
static_assert(plan<LeNet, Phase::inference, FusionLevel::none>.size == 11);
static_assert(plan<LeNet, Phase::inference, FusionLevel::epilogue>.size == 7);
static_assert(plan<LeNet, Phase::inference>.size == 6);  // the last two Linear are one segment
static_assert(plan<LeNet, Phase::training, FusionLevel::epilogue>.size == 7);
static_assert(plan<LeNet, Phase::training>.size == 6);
static_assert(steps_of(plan<LeNet, Phase::training>, StepKind::contraction_epilogue) == 3);
static_assert(steps_of(plan<LeNet, Phase::training>, StepKind::segment) == 1);
static_assert(steps_of(plan<LeNet, Phase::inference>, StepKind::segment) == 1);
static_assert(covers(plan<LeNet, Phase::inference>) && covers(plan<LeNet, Phase::training>));

// Two layers of a Transformer: each attention is one step of five layers with its dropout, of three
// without; where its weights are an output as well, nothing is fused.
struct memory;
struct Attentions : phyllo::Network<phyllo::Input<4, 6>, phyllo::Save<memory>,
                                    phyllo::TransformerEncoderLayer<4, 2, 8, phyllo::Dropout<0.1>>,
                                    phyllo::CrossAttention<2, memory, phyllo::Causal>> {};
static_assert(plan<Attentions, Phase::training, FusionLevel::none>.size == 22);
static_assert(plan<Attentions, Phase::training, FusionLevel::epilogue>.size == 13);
static_assert(steps_of(plan<Attentions, Phase::training>, StepKind::attention) == 2);
static_assert(steps_of(plan<Attentions, Phase::inference>, StepKind::attention) == 2);
static_assert(covers(plan<Attentions, Phase::training>));
static_assert(steps_of(plan<Attentions, Phase::training, FusionLevel::none>, StepKind::attention) ==
              0);

// ResNet-18: every batch normalisation of inference folds into its convolution.
static_assert(steps_of(plan<ResNet18, Phase::inference>, StepKind::folded_contraction) == 20);
static_assert(steps_of(plan<ResNet18, Phase::training>, StepKind::folded_contraction) == 0);
static_assert(steps_of(plan<ResNet18, Phase::inference>, StepKind::add_epilogue) == 8);
static_assert(steps_of(plan<ResNet18, Phase::training>, StepKind::normalization_epilogue) == 9);
static_assert(steps_of(plan<ResNet18, Phase::training>, StepKind::normalization_add) == 8);
static_assert(steps_of(plan<ResNet18, Phase::training>, StepKind::add_epilogue) == 0);
static_assert(covers(plan<ResNet18, Phase::inference>) && covers(plan<ResNet18, Phase::training>));

// U-Net: a value that is read again later is never fused away.
static_assert(covers(plan<UNet, Phase::inference>) && covers(plan<UNet, Phase::training>));

TEST_CASE("plans: values whose lifetimes overlap share no bytes") {
  auto const check = []<class Planned>(Planned) {
    auto const& m = Planned::memory;
    CHECK(m.slots > 0);
    for (int i = 0; i < m.slots; ++i) {
      CHECK(m.slot[i].first <= m.slot[i].last);
      CHECK(m.slot[i].offset % phyllo::slot_alignment == 0);
      CHECK(m.slot[i].offset + m.slot[i].bytes <= m.bytes);
      for (int j = 0; j < i; ++j) {
        bool const together =
            m.slot[i].first <= m.slot[j].last && m.slot[j].first <= m.slot[i].last;
        bool const apart = m.slot[i].offset + m.slot[i].bytes <= m.slot[j].offset ||
                           m.slot[j].offset + m.slot[j].bytes <= m.slot[i].offset;
        CHECK((!together || apart));
      }
    }
    CHECK(m.bytes < m.bytes_without_reuse);
  };
  check(phyllo::Planned<LeNet, Phase::inference, FusionLevel::segment, 4>{});
  check(phyllo::Planned<LeNet, Phase::training, FusionLevel::segment, 4>{});
  check(phyllo::Planned<ResNet18, Phase::inference, FusionLevel::segment, 2>{});
  check(phyllo::Planned<ResNet18, Phase::training, FusionLevel::segment, 4>{});
  check(phyllo::Planned<UNet, Phase::inference, FusionLevel::none, 4>{});
  check(phyllo::Planned<UNet, Phase::training, FusionLevel::segment, 4>{});
}

struct NarrowMlp : phyllo::Network<phyllo::Input<16>, phyllo::Linear<64>, phyllo::ReLU,
                                   phyllo::Linear<64>, phyllo::Tanh, phyllo::Linear<16>> {};
struct WideMlp
    : phyllo::Network<phyllo::Input<16>, phyllo::Linear<129>, phyllo::ReLU, phyllo::Linear<16>> {};

TEST_CASE("plans: a narrow perceptron is one segment, and its training one pass") {
  using P = phyllo::Planned<NarrowMlp, Phase::inference, FusionLevel::segment, 4>;
  static_assert(P::plan.size == 1 && P::plan.step[0].kind == StepKind::segment);
  static_assert(
      std::is_same_v<
          phyllo::StepSegment<P, 0>,
          phyllo::op::Segment<phyllo::op::Dense<16, 64, true, phyllo::op::Chain<phyllo::ReLU>>,
                              phyllo::op::Dense<64, 64, true, phyllo::op::Chain<phyllo::Tanh>>,
                              phyllo::op::Dense<64, 16, true, phyllo::op::Chain<>>>>);
  static_assert(phyllo::is_whole_step<NarrowMlp::program>(FusionLevel::segment));
  static_assert(!phyllo::is_whole_step<NarrowMlp::program>(FusionLevel::epilogue));
  static_assert(!phyllo::is_whole_step<WideMlp::program>(FusionLevel::segment));
  CHECK(P::memory.bytes == 2 * 64);
}

TEST_CASE("plans: convolutions and poolings of small images join the layers behind them") {
  using P = phyllo::Planned<LeNet, Phase::inference, FusionLevel::tile, 4>;
  static_assert(P::plan.size == 1 && P::plan.step[0].kind == StepKind::segment);
  static_assert(phyllo::is_whole_step<LeNet::program>(FusionLevel::tile));
  static_assert(!phyllo::is_whole_step<LeNet::program>(FusionLevel::segment));
  using Segment = phyllo::StepSegment<P, 0>;
  static_assert(Segment::length == 7);
  // Images that no cache holds stay layer by layer, and so does a network without a Linear layer.
  struct Large : phyllo::Network<phyllo::Input<3, 64, 64>, phyllo::Conv2d<8>, phyllo::ReLU,
                                 phyllo::MaxPool2d<8>, phyllo::Flatten, phyllo::Linear<10>> {};
  struct Headless : phyllo::Network<phyllo::Input<1, 8, 8>, phyllo::Conv2d<4>, phyllo::ReLU> {};
  static_assert(!phyllo::is_whole_step<Large::program>(FusionLevel::tile));
  static_assert(!phyllo::is_whole_step<Headless::program>(FusionLevel::tile));
  // The planner goes no further than the backends can.
  using Portable = phyllo::Execution<Kokkos::DefaultHostExecutionSpace,
                                     phyllo::Backends<phyllo::PortableBackend>>;
  static_assert(
      phyllo::NetworkPlan<LeNet, Phase::inference, phyllo::Full<float>, Portable>::plan.size == 6);
}

TEST_CASE("plans: a residual perceptron is one segment while nobody else reads its values") {
  struct Residuals
      : phyllo::Network<phyllo::Input<8>, phyllo::Linear<16>, phyllo::BatchNorm<>, phyllo::Tanh,
                        phyllo::Residual<phyllo::Linear<16>, phyllo::Tanh>, phyllo::Linear<4>> {};
  using P = phyllo::Planned<Residuals, Phase::inference, FusionLevel::tile, 4>;
  static_assert(P::plan.size == 1);
  using Tanh = phyllo::op::Chain<phyllo::Tanh>;
  using None = phyllo::op::Chain<>;
  // Value 2 is what the normalisation gives: the sum reads it beside the value before.
  static_assert(
      std::is_same_v<
          phyllo::StepSegment<P, 0>,
          phyllo::op::Segment<phyllo::op::Dense<8, 16, true, None>,
                              phyllo::op::RunningNormalization<16, Tanh>,
                              phyllo::op::Dense<16, 16, true, Tanh>, phyllo::op::Sum<16, 2, None>,
                              phyllo::op::Dense<16, 4, true, None>>>);
  // The statistics of a batch end a pass over it.
  static_assert(!phyllo::is_whole_step<Residuals::program>(FusionLevel::tile));
  struct tag;
  struct SeenOutside : phyllo::Network<phyllo::Input<8>, phyllo::Linear<16>, phyllo::Tanh,
                                       phyllo::Output<tag>, phyllo::Linear<16>, phyllo::Tanh,
                                       phyllo::Linear<4>, phyllo::Output<phyllo::ReLU>> {};
  constexpr auto seen = phyllo::Planned<SeenOutside, Phase::inference, FusionLevel::tile, 4>::plan;
  static_assert(seen.size == 2 && seen.step[1].kind == StepKind::segment);
}
