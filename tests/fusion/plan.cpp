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
using phyllo::Fused;
using phyllo::Fusion;
using phyllo::Phase;

namespace {

template <class Net, Phase When, Fusion How = Fusion::segment>
constexpr auto plan = phyllo::Planned<Net, When, How, 4>::plan;

template <class Plan> constexpr int steps_of(Plan const& p, Fused fused) {
  int count = 0;
  for (int s = 0; s < p.size; ++s) count += p.step[s].fused == fused;
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
static_assert(plan<LeNet, Phase::inference, Fusion::none>.size == 11);
static_assert(plan<LeNet, Phase::inference, Fusion::epilogue>.size == 7);
static_assert(plan<LeNet, Phase::inference>.size == 6);  // the last two Linear are one segment
static_assert(plan<LeNet, Phase::training>.size == 7);
static_assert(steps_of(plan<LeNet, Phase::training>, Fused::contraction_epilogue) == 4);
static_assert(steps_of(plan<LeNet, Phase::inference>, Fused::segment) == 1);
static_assert(covers(plan<LeNet, Phase::inference>) && covers(plan<LeNet, Phase::training>));

// ResNet-18: every batch normalisation of inference folds into its convolution.
static_assert(steps_of(plan<ResNet18, Phase::inference>, Fused::folded_contraction) == 20);
static_assert(steps_of(plan<ResNet18, Phase::training>, Fused::folded_contraction) == 0);
static_assert(steps_of(plan<ResNet18, Phase::inference>, Fused::add_epilogue) == 8);
static_assert(steps_of(plan<ResNet18, Phase::training>, Fused::normalization_epilogue) == 9);
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
  check(phyllo::Planned<LeNet, Phase::inference, Fusion::segment, 4>{});
  check(phyllo::Planned<LeNet, Phase::training, Fusion::segment, 4>{});
  check(phyllo::Planned<ResNet18, Phase::inference, Fusion::segment, 2>{});
  check(phyllo::Planned<ResNet18, Phase::training, Fusion::segment, 4>{});
  check(phyllo::Planned<UNet, Phase::inference, Fusion::none, 4>{});
  check(phyllo::Planned<UNet, Phase::training, Fusion::segment, 4>{});
}

struct NarrowMlp : phyllo::Network<phyllo::Input<16>, phyllo::Linear<64>, phyllo::ReLU,
                                   phyllo::Linear<64>, phyllo::Tanh, phyllo::Linear<16>> {};
struct WideMlp
    : phyllo::Network<phyllo::Input<16>, phyllo::Linear<129>, phyllo::ReLU, phyllo::Linear<16>> {};

TEST_CASE("plans: a narrow perceptron is one segment, and its training one pass") {
  using P = phyllo::Planned<NarrowMlp, Phase::inference, Fusion::segment, 4>;
  static_assert(P::plan.size == 1 && P::plan.step[0].fused == Fused::segment);
  static_assert(
      std::is_same_v<
          phyllo::StepSegment<P, 0>,
          phyllo::op::Segment<phyllo::op::Dense<16, 64, true, phyllo::op::Chain<phyllo::ReLU>>,
                              phyllo::op::Dense<64, 64, true, phyllo::op::Chain<phyllo::Tanh>>,
                              phyllo::op::Dense<64, 16, true, phyllo::op::Chain<>>>>);
  static_assert(phyllo::is_whole_step<NarrowMlp::program>(Fusion::segment));
  static_assert(!phyllo::is_whole_step<NarrowMlp::program>(Fusion::epilogue));
  static_assert(!phyllo::is_whole_step<WideMlp::program>(Fusion::segment));
  CHECK(P::memory.bytes == 2 * 64);
}
