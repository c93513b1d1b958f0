// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/pack4.hpp>
#include <phyllo/backend/gpu/step/stored_layout.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// What a warp keeps of its 16 samples in device memory, in the matrices of StoredLayout. A lane
/// reads again what it wrote itself, but for the rows of the loss.
template <class MmaAtom, class Layout> struct StoredRows {
  using S = typename MmaAtom::storage;
  static constexpr int layers = Layout::layers;
  static constexpr int output_columns = Layout::channels(layers);

  S* workspace;
  int samples;       // rows of each matrix
  int first;         // of the warp's samples
  bool keeps_input;  // whether the inputs of the first layer are kept as well

  /// Rows of a matrix: whole tiles, so that those behind the batch are their warp's own.
  static int padded(int batch) { return (batch + 63) / 64 * 64; }

  /// The same to a reader, but not to a compiler, which else keeps the addresses of all matrices in
  /// registers from one tile to the next.
  PHYLLO_INLINE StoredRows anew() const {
    StoredRows rows = *this;
    MmaAtom::opaque(rows.samples);
    MmaAtom::opaque(rows.first);
    return rows;
  }

  template <int Value>
  PHYLLO_INLINE void put_value(int k, int lane, int part, Pack4<S> const& four) const {
    if (Value > 0 || keeps_input) write<Layout::value(Value)>(k, lane, part, four);
  }
  template <int Layer>
  PHYLLO_INLINE void put_before_chain(int k, int lane, int part, Pack4<S> const& four) const {
    write<Layout::sums(Layer)>(k, lane, part, four);
  }
  /// What the derivative of a layer's chain wants: what it made, or what it had before.
  template <int Layer> PHYLLO_INLINE Pack4<S> kept(int k, int lane, int part) const {
    if constexpr (Layout::Layers::keeps_input(Layer))
      return read<Layout::sums(Layer)>(k, lane, part);
    else
      return read<Layout::value(Layer + 1)>(k, lane, part);
  }
  template <int Layer>
  PHYLLO_INLINE void put_gradient(int k, int lane, int part, Pack4<S> const& four) const {
    write<Layout::sums(Layer)>(k, lane, part, four);
  }

  PHYLLO_INLINE S const* output_row(int sample) const { return row<Layout::value(layers)>(sample); }
  PHYLLO_INLINE S* output_gradient_row(int sample) const {
    return row<Layout::output_gradient>(sample);
  }
  PHYLLO_INLINE Pack4<S> output_gradient(int k, int lane, int part) const {
    return read<Layout::output_gradient>(k, lane, part);
  }

  /// Four channels of group k, a lane's part; behind the last channel zero.
  template <int Matrix> PHYLLO_INLINE Pack4<S> read(int k, int lane, int part) const {
    constexpr int count = Layout::channels(Matrix);
    return read_four<count>(static_cast<S const*>(row<Matrix>(MmaAtom::sample(lane, part))),
                            k * 16 + MmaAtom::channel(lane));
  }

 private:
  // Constants, which a compiler else computes where they are used.
  template <int Matrix> PHYLLO_INLINE S* row(int sample) const {
    constexpr long before = Layout::channels_before(Matrix);
    constexpr int columns = Layout::channels(Matrix);
    return workspace + before * samples + long(first + sample) * columns;
  }
  template <int Matrix>
  PHYLLO_INLINE void write(int k, int lane, int part, Pack4<S> const& four) const {
    constexpr int count = Layout::channels(Matrix);
    int const c = k * 16 + MmaAtom::channel(lane);
    S* const to = row<Matrix>(MmaAtom::sample(lane, part)) + c;
    if constexpr (count % 4 == 0) {
      if (c < count) *reinterpret_cast<Pack4<S>*>(to) = four;
    } else {
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        if (c + i < count) to[i] = four.value[i];
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
