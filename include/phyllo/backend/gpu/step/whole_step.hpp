// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/launch/team.hpp>
#include <phyllo/backend/gpu/segment/warp_rows.hpp>
#include <phyllo/backend/gpu/step/step_gradients.hpp>
#include <phyllo/backend/gpu/step/step_passes.hpp>

#include <cstddef>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Forward, loss, backward and parameter gradients of a segment in one pass over the batch. Each
/// warp of a block takes 16 samples through all layers and back, as in inference; the gradients of
/// weights are products over the samples of all warps of the block, which meet in scratch memory. A
/// block keeps their sums in registers over all its tiles and writes them to its row of the
/// workspace once. Inside a network the gradient of the outputs is given, and the gradient of the
/// inputs is one more product.
///
/// options  L: a loss, or GivenGradient
/// cost     memory traffic is input, targets and loss values, and a row of gradients for each block
template <class MmaAtom, class Segment, class L, class P, int Warps> struct whole_step_tiles;
template <class MmaAtom, class... D, class L, class P, int Warps>
struct whole_step_tiles<MmaAtom, op::Segment<D...>, L, P, Warps>
    : StepPasses<MmaAtom, op::Segment<D...>, L, P> {
  using Passes = StepPasses<MmaAtom, op::Segment<D...>, L, P>;
  using Layout = StepLayout<MmaAtom, op::Segment<D...>, Warps, has_loss<L>>;
  using Layers = typename Layout::Layers;
  using Rows = StepRows<MmaAtom, Layout>;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes;
  static constexpr int layers = Layout::layers;
  static constexpr int scratch_bytes = Layout::scratch_bytes;
  static constexpr int warps = Warps;
  static constexpr int threads = warps * MmaAtom::lanes;
  static constexpr int samples_of_block = Layout::samples;
  template <int Layer> using Dense = typename Layers::template Dense<Layer>;
  using Passes::parameter_count;
  using Passes::source;

  float* partial = nullptr;  // (blocks, parameter_count)

  whole_step_tiles(typename Passes::Work const& work, ExternalTensor const& from)
      : Passes(work, from), partial(work.partial) {}

  /// What a warp keeps in registers.
  struct State {
    typename Passes::Values value;
    StepGradients<MmaAtom, Layout> gradients;
  };

  template <class Team> PHYLLO_INLINE void operator()(Team const& team) const {
    State states[Team::warps_here] = {};
    Rows const rows{team.scratch};
    float* const row = partial + long(team.block()) * parameter_count;
    for (int t = 0; t < Team::threads_here; ++t) {
      int const thread = team.first_thread() + t;
      for (int i = thread; i < parameter_count; i += threads) row[i] = 0;
      load(rows, thread, all_layers{});
    }
    team.barrier();
    long const step = long(team.blocks()) * samples_of_block;
    for (long first = long(team.block()) * samples_of_block; first < source.batch; first += step) {
      for (int w = 0; w < Team::warps_here; ++w) {
        int warp = team.first_warp() + w;
        MmaAtom::opaque(warp);  // nvcc 13 else spills on sm_90
        all_forward(states[w], rows, first + warp * 16, warp, team.first_lane(), all_layers{});
      }
      all_backward(team, states, rows, first, all_layers{});
    }
    write(team, states, rows, row, all_layers{});
  }

 private:
  using all_layers = std::make_index_sequence<layers>;

  template <std::size_t... I>
  PHYLLO_INLINE void load(Rows const& rows, int thread, std::index_sequence<I...>) const {
    (load_layer<int(I)>(rows, thread), ...);
  }
  template <int Layer> PHYLLO_INLINE void load_layer(Rows const& rows, int thread) const {
    this->template pack<Layer>(rows.template weights<Layer>(), thread, threads);
    if constexpr (Layer > 0 || !has_loss<L>)
      this->template pack_transposed<Layer>(rows.template transposed<Layer>(), thread, threads);
  }

  template <std::size_t... I>
  PHYLLO_INLINE void all_forward(State& s, Rows const& all_rows, long first, int warp,
                                 int first_lane, std::index_sequence<I...>) const {
    WarpRows<MmaAtom, Layout> const rows{all_rows, warp};
    this->read(s.value, rows, first, first_lane);
    (this->template forward<int(I)>(s.value, all_rows.template weights<int(I)>(), rows, first,
                                    first_lane),
     ...);
    this->begin_backward(s.value, rows, first, first_lane);
  }

  template <class Team, std::size_t... I>
  PHYLLO_INLINE void all_backward(Team const& team, State (&states)[Team::warps_here],
                                  Rows const& rows, long first, std::index_sequence<I...>) const {
    (backward_layer<layers - 1 - int(I)>(team, states, rows, first), ...);
  }
  template <int Layer, class Team>
  PHYLLO_INLINE void backward_layer(Team const& team, State (&states)[Team::warps_here],
                                    Rows const& rows, long first) const {
    constexpr int in = Layers::groups(Dense<Layer>::inputs);
    // Of one layer in registers; a barrier lies between its computation and its use.
    typename MmaAtom::Sums d_x[Team::warps_here][1][in][MmaAtom::blocks][emulated_lanes] = {};
    team.barrier();
    for (int w = 0; w < Team::warps_here; ++w) {
      int const warp = team.first_warp() + w;
      State& s = states[w];
      s.gradients.template add_weights<Layer>(rows, warp, team.first_lane());
      s.gradients.template add_bias<Layer>(rows, warp, team.first_lane());
      if constexpr (Layer > 0)
        rows.template transposed<Layer>().multiply(d_x[w], s.value, team.first_lane());
    }
    team.barrier();
    if constexpr (Layer > 0) {
      for (int w = 0; w < Team::warps_here; ++w) {
        int const warp = team.first_warp() + w;
        this->template backward<Layer - 1>(states[w].value, d_x[w],
                                           WarpRows<MmaAtom, Layout>{rows, warp}, first + warp * 16,
                                           team.first_lane());
      }
    } else if constexpr (!has_loss<L>) {
      // Behind the barrier: nvcc 13 spills more where its loads mix with those of add_weights.
      for (int w = 0; w < Team::warps_here; ++w) {
        int warp = team.first_warp() + w;
        MmaAtom::opaque(warp);
        this->input_gradient(states[w].value, rows.template transposed<Layer>(), first + warp * 16,
                             team.first_lane());
      }
    }
  }

  template <class Team, std::size_t... I>
  PHYLLO_INLINE void write(Team const& team, State (&states)[Team::warps_here], Rows const& rows,
                           float* row, std::index_sequence<I...>) const {
    (write_layer<int(I)>(team, states, rows, row), ...);
  }
  template <int Layer, class Team>
  PHYLLO_INLINE void write_layer(Team const& team, State (&states)[Team::warps_here],
                                 Rows const& rows, float* row) const {
    team.barrier();
    for (int w = 0; w < Team::warps_here; ++w) {
      int const warp = team.first_warp() + w;
      auto const& gradients = states[w].gradients;
      gradients.template write_weights<Layer>(row + this->weight[Layer], warp, team.first_lane());
      if constexpr (Dense<Layer>::bias)
        gradients.template write_bias<Layer>(rows.sums(), warp, team.first_lane());
    }
    team.barrier();
    if constexpr (Dense<Layer>::bias)
      for (int t = 0; t < Team::threads_here; ++t)
        for (int o = team.first_thread() + t; o < Dense<Layer>::outputs; o += threads)
          row[this->bias[Layer] + o] = StepGradients<MmaAtom, Layout>::sum_bias(rows.sums(), o);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
