// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/launch/team.hpp>
#include <phyllo/backend/gpu/product/packed_weights.hpp>
#include <phyllo/backend/gpu/step/step_passes.hpp>
#include <phyllo/backend/gpu/step/stored_rows.hpp>

#include <cstddef>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Forward, loss and backward of a segment, of which the values and the gradients by each layer's
/// sums stay in device memory for the gradients of weights. A warp takes 16 samples through the
/// layers and back by itself; in between, a stage of weights is loaded once for all tiles of a
/// block, and the values at its border are read again by the lanes that wrote them.
///
/// cost     of each layer and sample its input is written and read again, and the gradients by its
///          sums are written: 3 numbers a channel, 5 with the products that read both for the
///          gradients of weights. Layers that run one by one move 9: input and output; output,
///          gradient and gradient of the chain; both for the weights; gradients and those of the
///          input. One more where a chain's derivative wants what the chain had before it, and at
///          the border of two stages; beside that outputs and their gradients, written for the loss
///          and read by it. The caller's inputs are written only if they are no matrix of storage
template <class MmaAtom, class Segment, class L, class P> struct stored_step_tiles;
template <class MmaAtom, class... D, class L, class P>
struct stored_step_tiles<MmaAtom, op::Segment<D...>, L, P>
    : StepPasses<MmaAtom, op::Segment<D...>, L, P> {
  using Passes = StepPasses<MmaAtom, op::Segment<D...>, L, P>;
  using Layout = StoredLayout<MmaAtom, op::Segment<D...>, has_loss<L>>;
  using Layers = typename Layout::Layers;
  using Rows = StoredRows<MmaAtom, Layout>;
  using S = typename P::storage;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes;
  static constexpr int layers = Layout::layers;
  static constexpr int scratch_bytes = Layout::scratch_bytes();
  /// As many as hide the way to memory where a multiprocessor has room for one block only; not of
  /// wide layers, whose values and sums would not fit a half of the registers.
  static constexpr int warps = 2L * scratch_bytes >
                                       Layout::budget&& Passes::widest* int(sizeof(S)) <= 8
                                   ? 16
                                   : 8;
  static constexpr int threads = warps * MmaAtom::lanes;
  static constexpr int samples_of_block = warps * 16;
  template <int Layer> using Dense = typename Layers::template Dense<Layer>;
  using Passes::parameter_count;
  using Passes::source;

  S* workspace = nullptr;      // matrices of StoredLayout
  float* gradients = nullptr;  // (parameter_count): zeros, for what is between parameters
  int samples = 0;             // rows of a matrix
  bool keeps_input = false;

  stored_step_tiles(typename Passes::Work const& work, ExternalTensor const& from)
      : Passes(work, from),
        workspace(reinterpret_cast<S*>(work.forward.memory.first)),
        gradients(work.gradients + Passes::Boundary::parameter_first(work)),
        samples(Rows::padded(work.forward.batch)),
        keeps_input(source.in_one_piece() == nullptr) {}

  /// For the gradients of a layer's parameters: its input, and the gradients by its sums.
  S const* input(int layer) const {
    return layer > 0 || keeps_input ? matrix(Layout::value(layer)) : source.in_one_piece();
  }
  S const* gradient(int layer) const { return matrix(Layout::sums(layer)); }

  template <class Team> PHYLLO_INLINE void operator()(Team const& team) const {
    for (int t = 0; t < Team::threads_here; ++t)
      for (int i = team.block() * threads + team.first_thread() + t; i < parameter_count;
           i += team.blocks() * threads)
        gradients[i] = 0;
    all_stages(team, std::make_index_sequence<Layout::stages()>{});
  }

 private:
  S const* matrix(int m) const { return workspace + long(Layout::channels_before(m)) * samples; }

  template <class Team, std::size_t... I>
  PHYLLO_INLINE void all_stages(Team const& team, std::index_sequence<I...>) const {
    (stage<int(I)>(team), ...);
  }
  template <int Stage, class Team> PHYLLO_INLINE void stage(Team const& team) const {
    constexpr int first_piece = Layout::first_of(Stage);
    using Pieces = std::make_index_sequence<Layout::first_of(Stage + 1) - first_piece>;
    // A stage of the first layer's weights alone, for a gradient that is not wanted.
    if constexpr (!has_loss<L> && first_piece + 1 == Layout::pieces)
      if (!this->boundary.has_input_gradient()) return;
    if constexpr (Stage > 0) team.barrier();
    for (int t = 0; t < Team::threads_here; ++t)
      load<first_piece>(team.scratch, team.first_thread() + t, Pieces{});
    team.barrier();
    long const step = long(team.blocks()) * samples_of_block;
    for (int w = 0; w < Team::warps_here; ++w)
      for (long first = long(team.block()) * samples_of_block + (team.first_warp() + w) * 16;
           first < source.batch; first += step)
        tile<first_piece>(team.scratch, Rows{workspace, samples, int(first), keeps_input},
                          team.first_lane(), Pieces{});
  }

  template <int First, std::size_t... I>
  PHYLLO_INLINE void load(std::byte* scratch, int thread, std::index_sequence<I...>) const {
    (load_piece<First + int(I)>(scratch, thread), ...);
  }
  template <int Piece> PHYLLO_INLINE void load_piece(std::byte* scratch, int thread) const {
    constexpr int layer = Layout::layer_of(Piece);
    if constexpr (Layout::is_forward(Piece))
      this->template pack<layer>(packed<Piece>(scratch), thread, threads);
    else
      this->template pack_transposed<layer>(packed<Piece>(scratch), thread, threads);
  }
  template <int Piece> PHYLLO_INLINE static auto packed(std::byte* scratch) {
    using Of = Dense<Layout::layer_of(Piece)>;
    constexpr bool forward = Layout::is_forward(Piece);
    constexpr int offset = Layout::offset(Piece);
    return PackedWeights<MmaAtom, forward ? Of::inputs : Of::outputs,
                         forward ? Of::outputs : Of::inputs>{
        reinterpret_cast<S*>(scratch + offset)};
  }

  template <int First, std::size_t... I>
  PHYLLO_INLINE void tile(std::byte* scratch, Rows const& rows, int first_lane,
                          std::index_sequence<I...>) const {
    typename Passes::Values value;
    begin<First>(value, rows, first_lane);
    (pass<First + int(I)>(value, scratch, rows, first_lane), ...);
  }
  // What the stage before has left: the input of a layer, or the gradients by its sums.
  template <int Piece>
  PHYLLO_INLINE void begin(typename Passes::Values& value, Rows const& rows, int first_lane) const {
    constexpr int layer = Layout::layer_of(Piece);
    if constexpr (Piece == 0) {
      this->read(value, rows, rows.first, first_lane);
    } else {
      constexpr int matrix = Layout::is_forward(Piece) ? Layout::value(layer) : Layout::sums(layer);
      constexpr int groups = Layers::groups(Layout::channels(matrix));
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < groups; ++k) {
        for (int i = 0; i < emulated_lanes; ++i) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int part = 0; part < MmaAtom::parts; ++part)
            MmaAtom::put(value[0][k][i], part, rows.template read<matrix>(k, first_lane + i, part));
        }
      }
    }
  }
  template <int Piece>
  PHYLLO_INLINE void pass(typename Passes::Values& value, std::byte* scratch, Rows const& rows,
                          int first_lane) const {
    constexpr int layer = Layout::layer_of(Piece);
    auto const weights = packed<Piece>(scratch);
    if constexpr (Layout::is_forward(Piece)) {
      Rows const at = rows.anew();
      this->template forward<layer>(value, weights, at, at.first, first_lane);
      if constexpr (layer == layers - 1) this->begin_backward(value, at, at.first, first_lane);
    } else if constexpr (layer == 0) {
      Rows const at = rows.anew();
      this->input_gradient(value, weights, at.first, first_lane);
    } else {
      constexpr int in = Layers::groups(Dense<layer>::inputs);
      typename MmaAtom::Sums sums[1][in][MmaAtom::blocks][emulated_lanes] = {};
      weights.multiply(sums, value, first_lane);
      Rows const at = rows.anew();
      this->template backward<layer - 1>(value, sums, at, at.first, first_lane);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
