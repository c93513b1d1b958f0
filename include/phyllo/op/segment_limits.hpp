// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Limits of the convolutions and poolings of a segment, in front of its Linear layers or alone.
struct ImageLimits {
  int most_values = 0;      // numbers of one sample, all layers together
  int widest = 0;           // inputs of the first Linear layer
  int most_parameters = 0;  // elements of the whole segment
  int most_channels = 0;    // of a segment without Linear layers; 0: there is none
};

/// Scratch memory of a block, for kernels that load the weights of one layer or more into it.
///
/// units    bytes; channels are padded to multiples of `group`
struct LayerScratch {
  long bytes = 0;  // 0: weights are not in scratch memory
  int group = 1;
  int weight_bytes = 0;
  int bias_bytes = 0;

  constexpr long of_layer(int inputs, int outputs) const {
    long const in = (inputs + group - 1) / group * group,
               out = (outputs + group - 1) / group * group;
    return in * out * weight_bytes + out * bias_bytes;
  }
};

/// The segments that a backend has kernels for, and those worth a kernel: the planner asks. A
/// backend states them as `static constexpr SegmentLimits segment_limits = {.backend = name, ...}`,
/// or as `segment_limits_in<Precision>` where they depend on the precision. A limit that is not
/// stated is 0, so that segments need a statement.
struct SegmentLimits {
  char const* backend = "";
  int widest = 0;  // channels of a value that is a row; 0: no segments
  int fewest_layers = 2;
  int most_layers = 0;          // at most op::Segment<>::max_length
  int most_parameters = 0;      // elements, of segments without images
  bool sums = false;            // of two values of the segment
  bool windows = false;         // convolutions and poolings, within `images`
  bool normalizations = false;  // of inference
  bool row_norms = false;       // LayerNorm and RMSNorm
  bool trains = false;          // op::SegmentBackward: segments in plans of training
  // In these a batch normalisation in front of a Linear layer, whose statistics are measured
  // before.
  bool batch_normalizations = false;
  bool lone_layers = false;    // in these also of one layer without a pointwise one behind it
  bool whole_steps = false;    // op::WholeStep
  bool fills_devices = false;  // whole steps have work for all threads of a device
  ImageLimits images = {};
  LayerScratch scratch = {};
};

/// The limits that the planner follows where no backend is asked: those of backend openmp.
///
/// A tile is in a core's first-level cache: the widest value times the rows of a tile. All weights,
/// 640 KiB in float, are in the second-level cache. With images so are the values and gradients of
/// the samples that fill a vector, and weights may have 512 KiB. Sums over 32 channels are faster
/// as products of pairs of bfloat16, one layer at a time.
struct UsualLimits {
  static constexpr SegmentLimits value = {.backend = "openmp",
                                          .widest = 128,
                                          .fewest_layers = 2,
                                          .most_layers = 16,
                                          .most_parameters = 160 * 1024,
                                          .sums = true,
                                          .windows = true,
                                          .normalizations = true,
                                          .row_norms = true,
                                          .trains = true,
                                          .batch_normalizations = true,
                                          .lone_layers = true,
                                          .whole_steps = true,
                                          .images = {.most_values = 12 * 1024,
                                                     .widest = 1024,
                                                     .most_parameters = 128 * 1024,
                                                     .most_channels = 16}};
};

}  // namespace phyllo::inline PHYLLO_ISA
