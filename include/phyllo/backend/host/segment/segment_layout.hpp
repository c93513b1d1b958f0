// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/dense_tile.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The value that a sum reads beside the one before; -1: the layer is none.
template <class Op> inline constexpr int earlier_of = -1;
template <class Op>
  requires(op::is_sum<Op>)
inline constexpr int earlier_of<Op> = Op::earlier;

/// Where the values and the weights of a segment's layers on rows lie in a thread's own memory, in
/// numbers of Precision::accumulate; every offset is a multiple of a vector.
///
/// options  Rows: samples of a tile · InputGradient: the first layer's input has a gradient too
template <class Segment, class P, int Rows = tile_rows, bool InputGradient = false>
struct SegmentLayout;
template <class... D, class P, int Rows, bool InputGradient>
struct SegmentLayout<op::Segment<D...>, P, Rows, InputGradient> {
  using A = typename P::accumulate;
  template <int Layer> using Op = At<TypeList<D...>, Layer>;
  static constexpr int layers = sizeof...(D);
  /// Samples of a tile and those that are computed beside them.
  static constexpr int stored_rows = (Rows + row_multiple - 1) / row_multiple * row_multiple;
  /// Weights of another type than sums are converted once a piece of the batch.
  static constexpr bool converts = !std::is_same_v<typename P::storage, A>;

  static constexpr int in_stride[layers] = {BlockShape<A, D::inputs>::stride...};
  static constexpr int out_stride[layers] = {BlockShape<A, D::outputs>::stride...};
  static constexpr int in_count[layers] = {D::inputs...};
  static constexpr int out_count[layers] = {D::outputs...};
  static constexpr bool is_dense[layers] = {op::is_dense<D>...};
  /// Whether a sum reads a value again that is older than the one before.
  static constexpr bool has_sums = (op::is_sum<D> || ...);
  /// Whether a sum behind layer l reads value l.
  static constexpr bool is_read_later(int value, int l) {
    constexpr int earlier[] = {earlier_of<D>...};
    for (int i = l; i < layers; ++i)
      if (earlier[i] == value) return true;
    return false;
  }

  static constexpr int widest = [] {
    int most = in_stride[0];
    for (int const s : out_stride) most = s > most ? s : most;
    return most;
  }();
  /// Value number l is the input of layer l; the last one the output.
  static constexpr int value_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += stored_rows * in_stride[i];
    return sum;
  }
  static constexpr int values = value_at(layers) + stored_rows * out_stride[layers - 1];

  static constexpr int weight_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += is_dense[i] ? (in_count[i] + 1) * out_stride[i] : 0;
    return sum;
  }
  /// Converted weights (in, out_stride), then the bias, of every Linear layer.
  static constexpr int weights = weight_at(layers);

  static constexpr int normalized_at(int l) {
    // A batch normalisation has two numbers of a channel beside scale and shift.
    constexpr int pairs[] = {op::is_batch_normalization<D>                   ? 2
                             : op::is_normalization<D> || op::is_row_norm<D> ? 1
                                                                             : 0 ...};
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += pairs[i] * out_stride[i];
    return sum;
  }
  /// Pairs of numbers of all channels of all normalisations.
  static constexpr int normalized = normalized_at(layers);

  static constexpr int statistics_at(int l) {
    constexpr bool is[] = {op::is_row_norm<D>...};
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += is[i] ? 2 * stored_rows : 0;
    return sum;
  }
  /// Mean and inverse deviation of the rows of all row normalisations.
  static constexpr int statistics = statistics_at(layers);

  static constexpr int transposed_at(int l) {
    int sum = 0;
    for (int i = InputGradient ? 0 : 1; i < l; ++i)
      sum += is_dense[i] ? out_count[i] * in_stride[i] : 0;
    return sum;
  }
  /// Transposed weights (out, in_stride) of every Linear layer whose input has a gradient.
  static constexpr int transposed = transposed_at(layers);
};

/// The parameters of a segment as its tiles read them: the arena itself, or a copy in the type of
/// sums, which pays from a tile of samples on.
///
/// options  First: place of the first Linear layer among the segment's layers
/// state    the copy, `size` numbers of the caller's memory
template <class Segment, class P, bool Converts, int First> class SegmentWeights;

template <class Segment, class P, int First> class SegmentWeights<Segment, P, false, First> {
 public:
  using number = typename P::storage;
  using A = typename P::accumulate;
  static constexpr int size = 0;
  template <class Work>
  SegmentWeights(Work const& work, A*)
      : parameters_(work.parameters), weight_(work.weight + First), bias_(work.bias + First) {}
  template <int Layer> number const* weight() const { return parameters_ + weight_[Layer]; }
  template <int Layer> long stride() const { return SegmentLayout<Segment, P>::out_count[Layer]; }
  template <int Layer> number const* bias() const {
    using D = typename SegmentLayout<Segment, P>::template Op<Layer>;
    return D::bias ? parameters_ + bias_[Layer] : nullptr;
  }

 private:
  number const* parameters_;
  int const* weight_;
  int const* bias_;
};

template <class Segment, class P, int First> class SegmentWeights<Segment, P, true, First> {
 public:
  using A = typename P::accumulate;
  using Layout = SegmentLayout<Segment, P>;
  static constexpr int size = Layout::weights + 1;
  template <class Work> SegmentWeights(Work const& work, A* memory) : at_(memory) {
    for (int l = 0; l < Layout::layers; ++l) {
      if (!Layout::is_dense[l]) continue;
      int const inputs = Layout::in_count[l], outputs = Layout::out_count[l];
      for (int i = 0; i < inputs; ++i)
        convert(work.parameters + work.weight[First + l] + long(i) * outputs, outputs,
                at_ + Layout::weight_at(l) + i * Layout::out_stride[l]);
      if (work.bias[First + l] >= 0)
        convert(work.parameters + work.bias[First + l], outputs,
                at_ + Layout::weight_at(l) + inputs * Layout::out_stride[l]);
    }
  }
  template <int Layer> A const* weight() const { return at_ + Layout::weight_at(Layer); }
  template <int Layer> long stride() const { return Layout::out_stride[Layer]; }
  template <int Layer> A const* bias() const {
    using D = typename Layout::template Op<Layer>;
    return D::bias ? weight<Layer>() + D::inputs * Layout::out_stride[Layer] : nullptr;
  }

 private:
  static void convert(typename P::storage const* from, int count, A* to) {
    for (int i = 0; i < count; ++i) to[i] = A(from[i]);
  }
  A* at_;
};

}  // namespace phyllo::inline PHYLLO_ISA::host
