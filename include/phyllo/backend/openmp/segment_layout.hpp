// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/dense_tile.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::openmp {

/// Where the values and the weights of a segment lie in a thread's own memory, in numbers of
/// Precision::accumulate; every offset is a multiple of a vector.
template <class Segment, class P> struct SegmentLayout;
template <class... D, class P> struct SegmentLayout<op::Segment<D...>, P> {
  using A = typename P::accumulate;
  template <int Layer> using Dense = At<TypeList<D...>, Layer>;
  static constexpr int layers = sizeof...(D);
  /// Weights of another type than sums are converted once a piece of the batch.
  static constexpr bool converts = !std::is_same_v<typename P::storage, A>;

  static constexpr int in_stride[] = {BlockShape<A, D::inputs>::stride...};
  static constexpr int out_stride[] = {BlockShape<A, D::outputs>::stride...};
  static constexpr int in_count[] = {D::inputs...};
  static constexpr int out_count[] = {D::outputs...};

  static constexpr int widest = [] {
    int most = in_stride[0];
    for (int const s : out_stride) most = s > most ? s : most;
    return most;
  }();
  /// Value number l is the input of layer l; the last one the output.
  static constexpr int value_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += tile_rows * in_stride[i];
    return sum;
  }
  static constexpr int values = value_at(layers) + tile_rows * out_stride[layers - 1];

  static constexpr int weight_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += (in_count[i] + 1) * out_stride[i];
    return sum;
  }
  /// Converted weights (in, out_stride), then the bias, of every layer.
  static constexpr int weights = weight_at(layers);

  static constexpr int transposed_at(int l) {
    int sum = 0;
    for (int i = 1; i < l; ++i) sum += out_count[i] * in_stride[i];
    return sum;
  }
  /// Transposed weights (out, in_stride) of every layer but the first.
  static constexpr int transposed = transposed_at(layers);
};

/// The parameters of a segment as its tiles read them: the arena itself, or a copy in the type of
/// sums, which pays from a tile of samples on.
template <class Segment, class P, bool Converts> class SegmentWeights;

template <class Segment, class P> class SegmentWeights<Segment, P, false> {
 public:
  using number = typename P::storage;
  template <class Work> explicit SegmentWeights(Work const& work) : work_(work) {}
  template <int Layer> number const* weight() const {
    return work_.parameters + work_.weight[Layer];
  }
  template <int Layer> long stride() const { return SegmentLayout<Segment, P>::out_count[Layer]; }
  template <int Layer> number const* bias() const {
    using D = typename SegmentLayout<Segment, P>::template Dense<Layer>;
    return D::bias ? work_.parameters + work_.bias[Layer] : nullptr;
  }

 private:
  typename Segment::template Forward<P> const& work_;
};

template <class Segment, class P> class SegmentWeights<Segment, P, true> {
 public:
  using A = typename P::accumulate;
  using Layout = SegmentLayout<Segment, P>;
  template <class Work> explicit SegmentWeights(Work const& work) {
    for (int l = 0; l < Layout::layers; ++l) {
      int const inputs = Layout::in_count[l], outputs = Layout::out_count[l];
      for (int i = 0; i < inputs; ++i)
        convert(work.parameters + work.weight[l] + long(i) * outputs, outputs,
                at_ + Layout::weight_at(l) + i * Layout::out_stride[l]);
      if (work.bias[l] >= 0)
        convert(work.parameters + work.bias[l], outputs,
                at_ + Layout::weight_at(l) + inputs * Layout::out_stride[l]);
    }
  }
  template <int Layer> A const* weight() const { return at_ + Layout::weight_at(Layer); }
  template <int Layer> long stride() const { return Layout::out_stride[Layer]; }
  template <int Layer> A const* bias() const {
    using D = typename Layout::template Dense<Layer>;
    return D::bias ? weight<Layer>() + D::inputs * Layout::out_stride[Layer] : nullptr;
  }

 private:
  static void convert(typename P::storage const* from, int count, A* to) {
    for (int i = 0; i < count; ++i) to[i] = A(from[i]);
  }
  alignas(64) A at_[Layout::weights];
};

}  // namespace phyllo::openmp
