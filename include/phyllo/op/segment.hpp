// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/window.hpp>
#include <phyllo/op/chain.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/pooling.hpp>
#include <phyllo/op/work_memory.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// One Linear layer with its epilogue, extents at compile time.
template <int In, int Out, bool HasBias, class Chain> struct Dense {
  static constexpr bool is_linear = true;
  static constexpr int inputs = In;
  static constexpr int outputs = Out;
  static constexpr bool bias = HasBias;
  using chain = Chain;
};

/// A shape as a template argument: nvcc writes such an argument as a list of its members, which
/// types with constructors do not accept.
struct ImageExtents {
  int channels = 1;
  int rank = 0;
  int depth = 1, height = 1, width = 1;

  static constexpr ImageExtents of(Shape const& s) {
    return {s.channels, s.rank, s.spatial[0], s.spatial[1], s.spatial[2]};
  }
  constexpr Shape shape() const {
    Shape s(channels, depth, height, width);
    s.rank = rank;
    return s;
  }
};

/// One convolution with its epilogue, extents at compile time.
template <ImageExtents In, ImageExtents Out, Window W, bool HasBias, class Chain>
struct Convolution {
  static constexpr Shape input = In.shape();
  static constexpr Shape output = Out.shape();
  static constexpr Window window = W;
  static constexpr bool bias = HasBias;
  using chain = Chain;
};

/// One pooling and the pointwise layers behind it, extents at compile time.
template <PoolingKind Kind, ImageExtents In, ImageExtents Out, Window W, class Chain>
struct WindowPooling {
  static constexpr PoolingKind kind = Kind;
  static constexpr Shape input = In.shape();
  static constexpr Shape output = Out.shape();
  static constexpr Window window = W;
  static constexpr bool bias = false;
  using chain = Chain;
};

/// The result before plus an earlier value: value l of a segment is the input of its layer l.
template <int Count, int Earlier, class Chain> struct Sum {
  static constexpr int inputs = Count;
  static constexpr int outputs = Count;
  static constexpr int earlier = Earlier;
  static constexpr bool bias = false;
  using chain = Chain;
};

/// Batch normalisation with running statistics.
template <int Count, class Chain> struct RunningNormalization {
  static constexpr bool is_normalization = true;
  static constexpr int inputs = Count;
  static constexpr int outputs = Count;
  static constexpr bool bias = false;
  using chain = Chain;
};

/// Batch normalisation in training, the first layer of a segment: another kernel has measured the
/// statistics of the batch before.
template <int Count, class Chain> struct BatchNormalization {
  static constexpr bool is_batch_normalization = true;
  static constexpr int inputs = Count;
  static constexpr int outputs = Count;
  static constexpr bool bias = true;
  using chain = Chain;
};

/// Normalisation over the channels of a row, as op::RowNormalization: LayerNorm where it is
/// centred, else RMSNorm.
template <int Count, bool Centered, bool HasScale, bool HasShift, class Chain> struct RowNorm {
  static constexpr bool is_row_norm = true;
  static constexpr int inputs = Count;
  static constexpr int outputs = Count;
  static constexpr bool centered = Centered;
  static constexpr bool scale = HasScale;
  static constexpr bool bias = HasShift;
  using chain = Chain;
};

/// Where a normalisation of a segment has its running statistics, if it has some, and its epsilon.
struct RunningStatistics {
  int buffer = -1;  // mean, then variance (C): elements from the start of the arena of buffers
  double epsilon = 0;
};

/// What an op of a segment is: a Linear layer, any op on rows of channels, a sum, a normalisation
/// by running statistics, one by those of the batch, a normalisation of each row.
template <class Op> inline constexpr bool is_dense = requires { Op::is_linear; };
template <class Op> inline constexpr bool is_on_rows = requires { Op::inputs; };
template <class Op> inline constexpr bool is_sum = requires { Op::earlier; };
template <class Op> inline constexpr bool is_normalization = requires { Op::is_normalization; };
template <class Op>
inline constexpr bool is_batch_normalization = requires { Op::is_batch_normalization; };
template <class Op> inline constexpr bool is_row_norm = requires { Op::is_row_norm; };

/// What a segment that begins with a batch normalisation reads beside its parameters; others have
/// nothing of it.
template <class Precision, bool Begins> struct BatchStatistics {};
template <class Precision> struct BatchStatistics<Precision, true> {
  typename Precision::accumulate const* mean = nullptr;               // (C)
  typename Precision::accumulate const* inverse_deviation = nullptr;  // (C)
};

/// Consecutive ops that run as one kernel while the activations of a tile stay on chip. Two
/// networks with the same segment share its kernels.
///
/// shape    x (N, first in) -> y (N, last out); images, which only the first ops take, are
///          channels-last
/// state    weight[l] (in, out) or (taps, in, out), bias[l] (out): elements from the start of the
///          parameter arena; of a normalisation scale and shift (C); -1: there is none
/// cost     memory traffic is x, y and the parameters
template <class... Ops> struct Segment {
  static constexpr int length = sizeof...(Ops);
  static constexpr int max_length = 16;
  static_assert(length <= max_length, "a segment has at most 16 layers; the planner cuts longer");

  static constexpr bool has_batch_statistics = (is_batch_normalization<Ops> || ...);

  template <class Precision> struct Forward : BatchStatistics<Precision, has_batch_statistics> {
    using storage = typename Precision::storage;
    int batch = 0;
    int shards = 0;  // pieces of a batch whatever the number of threads; 0: as many as there are
    storage const* x = nullptr;
    storage* y = nullptr;
    storage const* parameters = nullptr;
    int weight[max_length] = {};
    int bias[max_length] = {};
    Randomness random = {};  // position of the segment's first layer
    float const* buffers = nullptr;
    RunningStatistics const* statistics = nullptr;  // in host memory, one for each layer
    // Of each layer's chain, relative to random.position. Short: functors stay under 512 bytes.
    short position[max_length] = {};
    // A slice for each piece. In a whole step with KernelTraits::sample_bytes: of these, (batch
    // to a multiple of 64), from `first` on.
    WorkMemory memory = {};
  };
};

/// Forward, loss, backward and parameter gradients of a network that is one segment, in one pass
/// over the batch: memory traffic is the input, the targets and the gradients.
///
/// The batch is cut into at most `blocks` contiguous runs of samples; each adds its parameter
/// gradients to its own row of the workspace, and the rows are summed in a fixed tree.
template <class Segment, class L> struct WholeStep {
  using segment = Segment;
  using loss = L;
  static constexpr int blocks = 16;

  template <class Precision> struct Run : HeldLoss<L> {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    typename Segment::template Forward<Precision> forward;  // y unused
    accumulate weight = 1;
    ExternalTensor targets;
    StepState const* state = nullptr;
    int parameter_count = 0;  // of the arena, in elements
    // workspace (rows, parameter_count), and of KernelTraits::partial_count where these say so
    accumulate* partial = nullptr;
    accumulate* gradients = nullptr;  // (parameter_count), every parameter of the segment written
    accumulate* values = nullptr;     // (N)
    accumulate* correct = nullptr;    // (N) or nullptr
    int rows = 0;                     // of the workspace, at least `blocks`
    int pieces = 0;                   // the caller's own, of the batch
    // (pieces + 1), in host memory: where the caller's own pieces begin. Their gradients stay in
    // rows 0 .. pieces - 1; for kernels with KernelTraits::takes_pieces. nullptr: none.
    long const* begin = nullptr;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
