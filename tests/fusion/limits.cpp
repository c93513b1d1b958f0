// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A network on each side of every number of SegmentLimits and of every branch of the planner.
// The networks are arrays of nodes made at run time, which costs the compiler nothing.

#include <phyllo/fusion/segment_layers.hpp>
#include <phyllo/network/network.hpp>

#include <doctest/doctest.h>

#include <fuzz/plans/drawn_network.hpp>

#include <utility>

using namespace phyllo;
using namespace phyllo::test;

namespace {

Part part(PartKind kind, int number = 0) {
  Part p;
  p.kind = kind;
  p.number = number;
  return p;
}
Part input(int channels) { return part(PartKind::input, channels); }
Part line(int channels, int width) {
  Part p = input(channels);
  p.rank = 1;
  p.size[2] = width;
  return p;
}
Part image(int channels, int height, int width) {
  Part p = line(channels, width);
  p.rank = 2;
  p.size[1] = height;
  return p;
}
Part linear(int outputs, bool bias = true) {
  Part p = part(PartKind::linear, outputs);
  p.bias = bias;
  return p;
}
Part conv1d(int outputs, int size, int padding = 0, int stride = 1) {
  Part p = part(PartKind::convolution, outputs);
  p.rank = 1;
  p.size[2] = size;
  p.padding[2] = padding;
  p.stride[2] = stride;
  return p;
}
Part max_pool1d(int size) {
  Part p = part(PartKind::pooling);
  p.rank = 1;
  p.size[2] = p.stride[2] = size;
  return p;
}
Part const flatten = part(PartKind::flatten), batch_norm = part(PartKind::normalization),
           row_norm = part(PartKind::row_normalization), gelu = part(PartKind::pointwise, 0),
           keep = part(PartKind::save), add = part(PartKind::add), output = part(PartKind::output),
           softmax = part(PartKind::softmax);

DrawnNodes nodes_of(Description const& description) {
  DrawnNodes nodes;
  INFO(spelling(description));
  REQUIRE(lower(description, nodes));
  return nodes;
}
Description repeated(Description const& before, int count, Part const& of,
                     Description const& after = {}) {
  Description all = before;
  for (int i = 0; i < count; ++i) all.push_back(of);
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

// The kinds of the steps in order: s segment, c contraction with its chain, f folded, n and m
// normalisation with a chain or a sum, a sum with its chain, p chain, . one node.
std::string steps(Description const& description, FusionLevel fusion = FusionLevel::tile,
                  Phase phase = Phase::inference,
                  SegmentLimits const& limits = UsualLimits::value) {
  DrawnNodes const nodes = nodes_of(description);
  auto const plan = make_plan(nodes, phase, fusion, limits);
  std::string text;
  for (int s = 0; s < plan.size; ++s) text += ".fcnmatps"[int(plan.step[s].kind)];
  return text;
}
// The roles of the layers of step s.
std::string layers(Description const& description, int s = 0,
                   FusionLevel fusion = FusionLevel::tile) {
  DrawnNodes const nodes = nodes_of(description);
  auto const plan = make_plan(nodes, Phase::inference, fusion);
  auto const of_segment = detail::segment_layers(nodes, plan, plan.step[s]);
  std::string text;
  for (int l = 0; l < of_segment.size; ++l) text += " dcp+nr"[int(of_segment.role[l])];
  return text;
}
bool is_whole(Description const& description, FusionLevel fusion = FusionLevel::tile,
              SegmentLimits const& limits = UsualLimits::value) {
  return is_whole_step(nodes_of(description), fusion, limits);
}
constexpr SegmentLimits usual = UsualLimits::value;

// A backend of perceptrons, whose weights are in scratch memory as bfloat16.
constexpr SegmentLimits narrow = {
    .backend = "narrow",
    .widest = 32,
    .fewest_layers = 2,
    .most_layers = 3,
    .most_parameters = 3 * 32 * 16,
    .trains = true,
    .whole_steps = true,
    .scratch = {.bytes = 2 * 32 * 16 + 4 * 32, .group = 16, .weight_bytes = 2, .bias_bytes = 4}};
std::string narrow_steps(Description const& description) {
  return steps(description, FusionLevel::tile, Phase::inference, narrow);
}
// What ended the fusion of step s: the reason, and its numbers where it has some.
std::string end_of(Description const& description, int s = 0, SegmentLimits const& limits = usual,
                   FusionLevel fusion = FusionLevel::tile) {
  auto const plan = make_plan(nodes_of(description), Phase::inference, fusion, limits);
  static constexpr char const* reasons[] = {"none",          "level",          "chain read",
                                            "read outside",  "other input",    "recompute",
                                            "outside value", "no layer",       "sums",
                                            "windows",       "normalizations", "batch statistics",
                                            "row norms",     "channels",       "features",
                                            "layers",        "parameters",     "values",
                                            "scratch",       "few layers",     "no rows"};
  FusionEnd const end = plan.step[s].end;
  std::string text = reasons[int(end.reason)];
  if (end.reason == EndReason::not_a_layer)
    text += " " + std::to_string(end.found);
  else if (end.found > 0)
    text += " " + std::to_string(end.found) + " of " + std::to_string(end.most);
  return text;
}

}  // namespace

TEST_CASE("limits: channels of a narrow segment") {
  static_assert(usual.widest == 128);
  CHECK(steps({input(128), linear(128), gelu, linear(128)}) == "s");
  CHECK(steps({input(129), linear(128), gelu, linear(128)}) == "c.");
  CHECK(steps({input(128), linear(129), gelu, linear(128)}) == "c.");
  CHECK(steps({input(128), linear(128), gelu, linear(129)}) == "c.");
  CHECK(steps({input(129), linear(128), linear(128), linear(3)}) == ".s");
}

TEST_CASE("limits: an image that a Linear layer reads as one row") {
  Description const fits = {image(2, 8, 8), flatten, linear(10), gelu, linear(3)};
  CHECK(steps(fits) == "s");
  CHECK(layers(fits) == "dd");
  CHECK(is_whole(fits));
  CHECK(steps(fits, FusionLevel::segment) == "s");
  CHECK(steps({image(3, 1, 43), flatten, linear(10), gelu, linear(3)}) == "c.");
  CHECK(steps({image(3, 1, 43), flatten, linear(10), gelu, linear(3), linear(2)}) == "cs");
  // Not read whole, or not by Linear layers alone.
  CHECK(layers({line(2, 8), conv1d(3, 8), flatten, linear(3)}) == "dd");
  CHECK(layers({line(2, 8), conv1d(3, 7), flatten, linear(3)}) == "cd");
  CHECK(layers({line(2, 8), conv1d(3, 8, 1), flatten, linear(3)}) == "cd");
  CHECK(steps({image(2, 8, 8), flatten, gelu, linear(10), linear(3)}) == "..s");
}

TEST_CASE("limits: layers of a segment") {
  static_assert(usual.fewest_layers == 2 && usual.most_layers == 16);
  CHECK(steps({input(4), linear(4), gelu}) == "c");
  CHECK(steps({input(4), linear(4), gelu, linear(4)}) == "s");
  CHECK(steps(repeated({input(1)}, 16, linear(1))) == "s");
  CHECK(steps(repeated({input(1)}, 17, linear(1))) == "s.");
  CHECK(steps(repeated({input(1)}, 18, linear(1))) == "ss");
  CHECK(is_whole(repeated({input(1)}, 16, linear(1))));
  CHECK_FALSE(is_whole(repeated({input(1)}, 17, linear(1))));
  // A folded layer is two.
  CHECK(steps(repeated({input(1)}, 14, linear(1), {linear(1), batch_norm})) == "s");
  CHECK(steps(repeated({input(1)}, 15, linear(1), {linear(1), batch_norm})) == "sf");
  CHECK(steps(repeated({input(1)}, 16, linear(1), {linear(1), batch_norm})) == "sf");
  CHECK(steps(repeated({input(1)}, 16, linear(1), {linear(1), batch_norm, linear(1)})) == "ss");
  // So is a sum behind a layer.
  CHECK(steps(repeated({input(1)}, 14, linear(1), {keep, linear(1), add})) == "s");
  CHECK(steps(repeated({input(1)}, 15, linear(1), {keep, linear(1), add})) == "s..");
  // Poolings and convolutions count, their chains do not.
  Description const first = {line(1, 40), conv1d(1, 2), gelu, max_pool1d(2), gelu, flatten};
  CHECK(steps(repeated(first, 14, linear(1))) == "s");
  CHECK(layers(repeated(first, 14, linear(1))) == "cpdddddddddddddd");
  CHECK(steps(repeated(first, 15, linear(1))) == "s.");
}

TEST_CASE("limits: parameters of a narrow segment") {
  static_assert(usual.most_parameters == 10 * 128 * 128);
  CHECK(steps(repeated({input(128)}, 10, linear(128, false))) == "s");
  CHECK(steps(repeated({input(128)}, 9, linear(128, false), {linear(128)})) == "s.");
  CHECK(steps(repeated({input(128)}, 10, linear(128, false), {linear(1, false)})) == "s.");
}

TEST_CASE("limits: small images") {
  static_assert(usual.images.most_values == 12288 && usual.images.widest == 1024 &&
                usual.images.most_parameters == 1024 * 128);
  // Values of a sample: 12272 + 8 + 8.
  CHECK(steps({line(1, 12272), max_pool1d(1534), flatten, linear(8)}) == "s");
  CHECK(steps({line(1, 12272), max_pool1d(1534), flatten, linear(9)}) == "..");
  // A folded layer has two values, a chain none: 12264 + 8 + 8 + 8.
  CHECK(steps({line(1, 12264), max_pool1d(1533), gelu, flatten, linear(8), batch_norm}) == "s");
  CHECK(steps({line(1, 12264), max_pool1d(1533), gelu, flatten, linear(9), batch_norm}) == "..f");
  // Features.
  CHECK(steps({line(1, 2048), max_pool1d(2), flatten, linear(4)}) == "s");
  CHECK(steps({line(1, 2050), max_pool1d(2), flatten, linear(4)}) == "..");
  // Parameters.
  CHECK(steps({line(1, 2048), max_pool1d(2), flatten, linear(128, false)}) == "s");
  CHECK(steps({line(1, 2048), max_pool1d(2), flatten, linear(128)}) == "..");
  CHECK(steps({line(1, 2048), max_pool1d(2), flatten, linear(129, false)}) == "..");
  // Without images 160 Ki.
  CHECK(steps(repeated({line(1, 128), flatten}, 10, linear(128, false))) == "s");
  CHECK(steps(repeated({line(1, 129), max_pool1d(1), flatten}, 9, linear(128, false))) == "ss");
}

TEST_CASE("limits: images without a Linear layer behind them") {
  static_assert(usual.images.most_channels == 16);
  CHECK(steps({line(2, 9), conv1d(3, 3), gelu, max_pool1d(2)}) == "s");
  CHECK(layers({line(2, 9), conv1d(3, 3), gelu, max_pool1d(2)}) == "cp");
  CHECK(steps({line(2, 9), conv1d(16, 3), gelu, conv1d(16, 3)}) == "s");
  CHECK(steps({line(2, 9), conv1d(17, 3), gelu, conv1d(16, 3)}) == "c.");
  CHECK(steps({line(2, 9), conv1d(16, 3), gelu, conv1d(17, 3)}) == "c.");
  CHECK(steps({line(2, 9), conv1d(4, 3), conv1d(4, 3), conv1d(17, 3)}) == "s.");
  // One layer, or none with parameters.
  CHECK(steps({line(2, 9), conv1d(3, 3)}) == ".");
  CHECK(steps({line(2, 9), max_pool1d(2), max_pool1d(2)}) == "..");
  // The Linear layer behind them reads too much, or there are two.
  CHECK(steps({line(1, 2051), conv1d(1, 2), max_pool1d(2), flatten, linear(4)}) == "s.");
  CHECK(layers({line(1, 2051), conv1d(1, 2), max_pool1d(2), flatten, linear(4)}) == "cp");
  CHECK(steps({line(2, 9), conv1d(3, 3), gelu, max_pool1d(2), output, flatten, linear(2),
               output}) == "s.");
  CHECK_FALSE(is_whole({line(2, 9), conv1d(3, 3), gelu, max_pool1d(2)}));
}

TEST_CASE("limits: of another backend") {
  CHECK(narrow_steps({input(32), linear(16), gelu, linear(32)}) == "s");
  CHECK(narrow_steps({input(33), linear(16), gelu, linear(32)}) == "c.");
  CHECK(narrow_steps({input(8), linear(8), linear(33), linear(8), linear(8), linear(8)}) == "...s");
  CHECK(narrow_steps(repeated({input(4)}, 3, linear(4))) == "s");
  CHECK(narrow_steps(repeated({input(4)}, 4, linear(4))) == "s.");
  CHECK(narrow_steps({input(32), linear(16, false), linear(32, false), linear(16, false)}) == "s");
  CHECK(narrow_steps({input(32), linear(16, false), linear(32, false), linear(16)}) == "s.");
  // The weights of one layer: 32 x 16 fit, padded to 32 x 32 they do not.
  CHECK(narrow_steps({input(17), linear(16), gelu, linear(17)}) == "s");
  CHECK(narrow_steps({input(17), linear(17), gelu, linear(16)}) == "c.");
  CHECK(narrow.scratch.of_layer(16, 17) == 2 * 16 * 32 + 4 * 32);
  // What it has no kernels for.
  CHECK(narrow_steps({line(2, 8), conv1d(3, 3), gelu, flatten, linear(2)}) == "c.");
  CHECK(narrow_steps({input(8), linear(4), linear(4), keep, linear(4), add, linear(2)}) == "s...");
  CHECK(narrow_steps({input(8), linear(4), linear(4), batch_norm, gelu, linear(2), linear(2)}) ==
        ".fs");
  CHECK(is_whole({input(8), linear(4), gelu, linear(2)}, FusionLevel::tile, narrow));
  SegmentLimits inference = narrow;
  inference.whole_steps = false;
  CHECK_FALSE(is_whole({input(8), linear(4), gelu, linear(2)}, FusionLevel::tile, inference));
  // No segments at all.
  CHECK(steps({input(8), linear(4), gelu, linear(2)}, FusionLevel::tile, Phase::inference, {}) ==
        "c.");
  CHECK_FALSE(is_whole({input(8), linear(4), gelu, linear(2)}, FusionLevel::tile, {}));
}

TEST_CASE("limits: row normalisations in segments") {
  Description const two = {input(8), linear(4), row_norm, gelu, linear(2)};
  CHECK(steps(two) == "s");
  CHECK(layers(two) == "drd");
  CHECK(steps(two, FusionLevel::tile, Phase::training) == "s");
  CHECK(is_whole(two));
  CHECK(steps(two, FusionLevel::segment) == ".n.");
  CHECK(end_of(two, 0, usual, FusionLevel::segment) == "level");
  CHECK(end_of(two, 0, narrow) == "row norms");
  // One Linear layer is too few; a run begins with none of them; a softmax is none.
  CHECK(end_of({input(8), linear(4), row_norm, gelu}) == "few layers 1 of 2");
  CHECK(steps({input(8), row_norm, linear(4), linear(2), row_norm}) == ".s");
  CHECK(layers({input(8), row_norm, linear(4), linear(2), row_norm}, 1) == "ddr");
  CHECK(end_of({input(8), linear(4), linear(2), softmax}) == "no layer 3");
  // Behind images, and as a term of a sum.
  CHECK(layers({line(2, 8), conv1d(3, 3), gelu, flatten, linear(2), row_norm}) == "cdr");
  CHECK(steps({line(2, 8), conv1d(3, 3), row_norm, gelu, flatten, linear(2)}) == ".n.");
  CHECK(layers({input(4), linear(4), row_norm, keep, linear(4), add, row_norm}) == "drd+r");
  // They are layers of the limit.
  CHECK(steps(repeated({input(1)}, 15, linear(1), {row_norm})) == "s");
  CHECK(steps(repeated({input(1)}, 16, linear(1), {row_norm})) == "s.");
}

TEST_CASE("limits: segments of training, for a backend that states them") {
  SegmentLimits const& trains = usual;
  SegmentLimits infers = usual;
  infers.trains = false;
  auto const training = [&](Description const& d, SegmentLimits const& limits) {
    return steps(d, FusionLevel::tile, Phase::training, limits);
  };
  Description const plain = {input(8), linear(4), gelu, linear(2), softmax, linear(3), linear(3)};
  CHECK(training(plain, infers) == "c....");
  CHECK(training(plain, trains) == "s.s");
  // Statistics of a batch are known when all of it has passed.
  Description const normalized = {input(8), linear(4), batch_norm, gelu, linear(2), linear(3)};
  SegmentLimits apart = usual;
  apart.batch_normalizations = false;
  CHECK(training(normalized, apart) == "sns");
  // One layer alone, where the backward pass does not read its result.
  SegmentLimits no_lone = usual;
  no_lone.lone_layers = false;
  CHECK(training(normalized, no_lone) == ".s");
  apart.lone_layers = false;
  CHECK(training(normalized, apart) == ".ns");
  CHECK(training({input(8), linear(4)}, trains) == "s");
  CHECK(is_whole({input(8), linear(4)}));
  CHECK(training({input(8), linear(4), gelu}, trains) == "c");
  CHECK(training({line(2, 9), conv1d(16, 3), batch_norm, gelu}, trains) == "sn");
  CHECK(training({line(2, 9), conv1d(17, 3), batch_norm, gelu}, trains) == ".n");
  CHECK(training({line(2, 9), conv1d(16, 3), batch_norm, gelu}, no_lone) == ".n");
  CHECK(steps({input(8), linear(4)}) == ".");
  // Nor is there a whole step without segments of training.
  CHECK(is_whole({input(8), linear(4), gelu, linear(2)}, FusionLevel::tile, usual));
  CHECK_FALSE(is_whole({input(8), linear(4), gelu, linear(2)}, FusionLevel::tile, infers));
}

TEST_CASE("limits: batch normalisations begin segments of training") {
  auto const training = [](Description const& d, FusionLevel level = FusionLevel::tile) {
    return steps(d, level, Phase::training);
  };
  Description const normalized = {input(8), linear(4), batch_norm, gelu, linear(2), linear(3)};
  CHECK(training(normalized) == "ss");
  CHECK(training(normalized, FusionLevel::segment) == "sns");
  // One Linear layer is enough, none is not.
  CHECK(training({input(8), linear(4), batch_norm, linear(2)}) == "ss");
  CHECK(training({input(8), linear(4), batch_norm, gelu}) == "sn");
  CHECK(training({input(8), linear(128), batch_norm, linear(2)}) == "ss");
  CHECK(training({input(8), linear(129), batch_norm, linear(2)}) == "...");
  // Each begins one: a segment ends at the next.
  CHECK(training({input(8), linear(4), batch_norm, linear(4), batch_norm, gelu, linear(2)}) ==
        "sss");
  CHECK(training({input(8), linear(4), batch_norm, batch_norm, linear(2)}) == "s.s");
  // The gradient of what it reads is nobody else's, nor the caller's.
  CHECK(training({input(8), batch_norm, linear(2)}) == ".s");
  CHECK(training({input(8), linear(4), keep, batch_norm, linear(4), add, linear(2)}) == "s.s.s");
  CHECK(training({input(8), linear(4), output, batch_norm, linear(2), output}) == "s.s");
  // Rows of images, and an image of one position.
  CHECK(training({line(2, 9), conv1d(3, 3), batch_norm, flatten, linear(2)}) == "s.s");
  CHECK(training({line(2, 3), conv1d(3, 3), batch_norm, flatten, linear(2)}) == "ss");
  CHECK_FALSE(is_whole({input(8), batch_norm, linear(4), linear(2)}));
}

TEST_CASE("ends: what kept a segment from the next layer") {
  CHECK(end_of({input(8), linear(4), linear(2)}) == "none");
  CHECK(end_of({input(128), linear(128), linear(3), linear(129)}) == "channels 129 of 128");
  CHECK(end_of({input(129), linear(3), linear(3)}) == "channels 129 of 128");
  CHECK(end_of({input(8), linear(4), linear(2), softmax}) == "no layer 3");
  CHECK(end_of({input(8), linear(4), linear(2), softmax}, 1) == "none");
  CHECK(end_of(repeated({input(1)}, 17, linear(1))) == "layers 17 of 16");
  CHECK(end_of(repeated({input(1)}, 17, linear(1)), 1) == "few layers 1 of 2");
  CHECK(end_of(repeated({input(128)}, 11, linear(128, false))) == "parameters 180224 of 163840");
  CHECK(end_of({line(1, 2050), max_pool1d(2), flatten, linear(4)}) == "features 1025 of 1024");
  CHECK(end_of({line(1, 12272), max_pool1d(1534), flatten, linear(9)}) == "values 12289 of 12288");
  CHECK(end_of({line(1, 2048), max_pool1d(2), flatten, linear(128)}) ==
        "parameters 131200 of 131072");
  CHECK(end_of({line(2, 8), conv1d(3, 3), gelu}) == "no rows");
  CHECK(end_of({line(2, 8), conv1d(3, 3), gelu, flatten, linear(2)}, 0, usual,
               FusionLevel::segment) == "level");
  CHECK(end_of({line(2, 8), conv1d(3, 3), gelu, flatten, linear(2)}, 0, narrow) == "windows");
  CHECK(end_of({input(8), linear(4), linear(4), keep, linear(4), add}, 0, narrow) ==
        "read outside");
  CHECK(end_of({input(8), keep, linear(8), linear(8), add, linear(2)}, 0, narrow) == "sums");
  CHECK(end_of({input(8), gelu, keep, gelu, linear(8), linear(8), add}, 2) == "outside value");
  CHECK(end_of({input(8), linear(4), linear(4), linear(2), batch_norm}, 0, narrow) ==
        "normalizations");
  CHECK(end_of({input(8), linear(17), linear(17), linear(8)}, 1, narrow) == "scratch 2176 of 1152");
  CHECK(end_of({input(8), linear(4), output, gelu, linear(4), output}) == "chain read");
  CHECK(end_of({input(8), linear(4), gelu, output, linear(4), output}) == "read outside");
}

TEST_CASE("branches: what a convolution or a pooling needs to join") {
  // A Linear layer behind it.
  CHECK(steps({line(2, 8), conv1d(3, 3), gelu}) == "c");
  CHECK(steps({line(2, 8), conv1d(3, 3), gelu, flatten, linear(2)}) == "s");
  CHECK(steps({line(2, 8), conv1d(3, 3), gelu, flatten, linear(2)}, FusionLevel::segment) == "c.");
  // Padding smaller than the window.
  CHECK(layers({line(2, 8), conv1d(3, 3, 2), flatten, linear(2)}) == "cd");
  CHECK(steps({line(2, 8), conv1d(3, 2, 2), flatten, linear(2)}) == "..");
  CHECK(steps({line(3, 1), conv1d(4, 1, 1, 3), gelu, conv1d(2, 1)}) == "c.");
  // One position: more than one tap, or it is a dense layer.
  CHECK(layers({line(3, 1), conv1d(4, 1), flatten, linear(2)}) == "dd");
  CHECK(layers({line(3, 1), conv1d(4, 3, 1), flatten, linear(2)}) == "cd");
  CHECK(layers({line(2, 4), max_pool1d(4), conv1d(4, 3, 1), conv1d(2, 1), flatten, linear(1)}) ==
        "pcdd");
  // No batch normalisation among the images.
  CHECK(steps({line(2, 8), conv1d(3, 3), batch_norm, flatten, linear(2)}) == "f.");
  CHECK(steps({line(2, 8), max_pool1d(2), batch_norm, flatten, linear(2)}) == "...");
  // No image behind rows.
  CHECK(steps({line(2, 1), conv1d(3, 1), conv1d(2, 3, 1), flatten, linear(2)}) == ".s");
  // A product of matrices in front of what joins.
  CHECK(steps({line(2, 80), conv1d(3, 80), flatten, linear(2), linear(2)}) == ".s");
  CHECK(layers({line(2, 80), conv1d(5, 2), conv1d(3, 79), flatten, linear(2)}) == "cdd");
  // More outputs than a dense layer has: a convolution that reads the whole image.
  CHECK(layers({line(2, 8), conv1d(3, 2), conv1d(129, 7), flatten, linear(2)}) == "ccd");
}

TEST_CASE("branches: chains behind poolings, and what ends a segment") {
  CHECK(steps({line(2, 8), max_pool1d(2), gelu, gelu, flatten, linear(2)}) == "s");
  CHECK(steps({input(8), gelu, linear(2), linear(2)}) == ".s");
  CHECK(steps({input(8), linear(2), linear(2), softmax, linear(2), linear(2)}) == "s.s");
  // A value with another reader.
  CHECK(steps({input(8), linear(4), output, gelu, linear(4), linear(2), output}) == "..s");
  CHECK(steps({input(8), linear(4), gelu, output, linear(4), linear(2), output}) == "cs");
  CHECK(steps({line(2, 8), max_pool1d(2), output, gelu, flatten, linear(2), output}) == "...");
}

TEST_CASE("branches: sums and normalisations of a segment") {
  CHECK(layers({input(8), linear(4), keep, linear(4), add, linear(2)}) == "dd+d");
  CHECK(layers({input(8), keep, linear(8), add, linear(2)}) == "d+d");
  CHECK(steps({input(8), linear(4), keep, linear(4), add, linear(2)}, FusionLevel::segment) ==
        "....");
  CHECK(layers({input(8), linear(4), batch_norm, gelu, linear(2)}) == "dnd");
  CHECK(steps({input(8), linear(4), batch_norm, gelu, linear(2)}, FusionLevel::segment) == "f.");
  CHECK(steps({input(8), batch_norm, linear(4), linear(2)}) == ".s");
  // A sum with a value from outside of the rows, or from before the segment.
  CHECK(steps({input(8), gelu, keep, gelu, linear(8), add, linear(2)}) == ".....");
  CHECK(layers({line(2, 8), max_pool1d(8), flatten, keep, linear(2), add, linear(2)}) == "pd+d");
}

TEST_CASE("branches: whole steps") {
  CHECK(is_whole({input(8), linear(4), gelu, linear(2)}));
  CHECK(is_whole({input(8), linear(4), gelu, linear(2)}, FusionLevel::segment));
  CHECK_FALSE(is_whole({input(8), linear(4), gelu, linear(2)}, FusionLevel::epilogue));
  CHECK_FALSE(is_whole({input(8), linear(4), batch_norm, linear(2)}));
  CHECK_FALSE(is_whole({input(8), linear(4), linear(2), softmax}));
  CHECK_FALSE(is_whole({input(8), input(3), linear(4), linear(2)}));
  CHECK_FALSE(is_whole({input(8), linear(4), linear(2), output, output}));
  CHECK_FALSE(is_whole({input(8), output, linear(4), linear(2)}));
  CHECK_FALSE(is_whole({input(8), linear(4), output, linear(2)}));
}

TEST_CASE("branches: every rule, and a second reader that ends it") {
  auto const training = [](Description const& d) {
    return steps(d, FusionLevel::tile, Phase::training);
  };
  auto const inference = [](Description const& d) { return steps(d, FusionLevel::epilogue); };
  Description const wide = {input(200), linear(200)};
  CHECK(inference(repeated(wide, 1, batch_norm, {gelu})) == "f");
  CHECK(training(repeated(wide, 1, batch_norm, {gelu})) == ".n");
  CHECK(inference(repeated(wide, 1, output, {batch_norm, output})) == "..");
  CHECK(inference(repeated(wide, 2, gelu)) == "c");
  CHECK(inference(repeated(wide, 1, output, {gelu, gelu, output})) == ".p");
  CHECK(inference({input(4), gelu, gelu}) == "p");
  CHECK(inference({input(4), gelu, output, gelu, output}) == "..");
  Description const residual = {input(4), keep, linear(4), batch_norm};
  CHECK(training(repeated(residual, 1, add, {gelu})) == "sm");
  CHECK(inference(repeated(residual, 1, add, {gelu})) == "fa");
  CHECK(training(repeated(residual, 1, output, {add, gelu, output})) == "s.a");
  CHECK(steps(repeated(residual, 1, add, {gelu}), FusionLevel::none) == "....");
}

TEST_CASE("limits: values, names and outputs of a graph") {
  DrawnGraph graph;
  static_assert(DrawnGraph::max_sources == 4 && DrawnGraph::max_tags == 32 &&
                DrawnGraph::max_outputs == 8);
  int tag[40];
  for (int i = 0; i < 32; ++i) graph.save(&tag[i], 0);
  for (int i = 0; i < 8; ++i) graph.mark_output(&tag[i], 0);
  CHECK(graph.mistake == TagMistake::none);
  CHECK(graph.find(&tag[31]) == 0);
  DrawnGraph const full = graph;
  graph.save(&tag[32], 0);
  CHECK(graph.mistake == TagMistake::too_many);
  graph = full;
  graph.mark_output(&tag[9], 0);
  CHECK(graph.mistake == TagMistake::too_many);
  DrawnNodes nodes;
  Description eight = {input(4), linear(4), linear(4)};
  for (int i = 0; i < 8; ++i) eight.push_back(output);
  CHECK(lower(eight, nodes));
  eight.push_back(output);
  CHECK_FALSE(lower(eight, nodes));
}
