// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/launch/team.hpp>
#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/backend/gpu/product/packed_weights.hpp>
#include <phyllo/backend/gpu/segment/segment_layout.hpp>
#include <phyllo/backend/gpu/segment/tile_rows.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Inference of a segment. A warp takes some 16s of samples through all layers: values never leave
/// its registers, because the sums of one layer are where the next layer's instruction wants its
/// values. Weights are in the block's scratch memory, once for all tiles of a block where they fit,
/// else stage by stage.
///
/// options  MmaAtom: the matrix instruction, such as cuda::Mma<bf16>
/// cost     memory traffic is input and output; each block reads the parameters once, or once a
///          tile where there are several stages
template <class MmaAtom, class Segment, class P> struct segment_forward;
template <class MmaAtom, class... D, class P>
struct segment_forward<MmaAtom, op::Segment<D...>, P> {
  using S = typename P::storage;
  using Layout = SegmentLayout<MmaAtom, op::Segment<D...>>;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes;
  static constexpr int layers = Layout::layers;
  static constexpr int widest = Layout::widest();
  static constexpr int stages = Layout::stages();
  static constexpr int scratch_bytes = Layout::scratch_bytes();
  /// 16s of samples of a warp: a fragment of weights is read once for all of them. Values and sums
  /// have to fit the registers.
  static constexpr int tiles = widest > 4 ? 1 : 2;
  static constexpr int samples = tiles * 16;
  static constexpr int warps = scratch_bytes > 48 * 1024 ? 8 : 4;
  static constexpr int threads = warps * MmaAtom::lanes;
  static constexpr int samples_of_block = warps * samples;
  /// The next tile is on its way from memory while one is computed. Of float, registers have no
  /// room for it.
  static constexpr bool reads_ahead = MmaAtom::reads_ahead && sizeof(S) == 2;

  TileRows<MmaAtom, Layout::inputs(0)> source;
  TileRows<MmaAtom, Layout::outputs(layers - 1)> target;
  S const* parameters = nullptr;
  int weight[layers] = {};
  int bias[layers] = {};
  int position[layers] = {};
  Randomness random;

  segment_forward(typename op::Segment<D...>::template Forward<P> const& work,
                  ExternalTensor const& from, ExternalTensor const& to)
      : source(from, work.batch),
        target(to, work.batch),
        parameters(work.parameters),
        random(work.random) {
    for (int l = 0; l < layers; ++l) {
      weight[l] = work.weight[l];
      bias[l] = work.bias[l];
      position[l] = work.position[l];
    }
  }

  /// What a warp keeps in registers between layers.
  struct State {
    typename MmaAtom::Values value[tiles][widest][emulated_lanes];
  };
  struct Inputs {
    typename MmaAtom::Values value[tiles][Layout::groups(Layout::inputs(0))][emulated_lanes];
  };

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    State state[Team::warps_here];
    Inputs next[Team::warps_here];
    long const step = long(team.blocks()) * samples_of_block;
    long first = long(team.block()) * samples_of_block;
    if constexpr (reads_ahead) read(team, next, first);
    if constexpr (stages == 1) load<0>(team, std::make_index_sequence<layers>{});
    for (; first < source.batch; first += step) {
      if constexpr (!reads_ahead) read(team, next, first);
      for (int w = 0; w < Team::warps_here; ++w) take(state[w], next[w]);
      if constexpr (reads_ahead) read(team, next, first + step);
      all(team, first, state, std::make_index_sequence<layers>{});
    }
  }

 private:
  template <class Team, std::size_t... L>
  PHYLLO_INLINE void all(Team const& team, long first, State (&state)[Team::warps_here],
                         std::index_sequence<L...>) const {
    (layer<int(L)>(team, first, state, std::make_index_sequence<layers>{}), ...);
  }

  // Equal layers are a loop: unrolled, their addresses and biases would be read ahead of time and
  // take the registers that hold the values.
  template <int L, class Team, std::size_t... K>
  PHYLLO_INLINE void layer(Team const& team, long first, State (&state)[Team::warps_here],
                           std::index_sequence<K...> all_layers) const {
    constexpr int stage = Layout::stage_of(L);
    constexpr bool is_alone = stages > 1 && Layout::is_alone(L);
    if constexpr (stages > 1 && !is_alone && Layout::first_of(stage) == L)
      load<stage>(team, all_layers);
    if constexpr (!Layout::template repeats<L>()) {
      constexpr int count = Layout::template run_length<L>();
      constexpr int bytes = is_alone ? 0 : Layout::bytes(L);
      PHYLLO_ROLLED_ON_DEVICE
      for (int r = 0; r < count; ++r) {
        if constexpr (is_alone) load_alone<L>(team, L + r);
        for (int w = 0; w < Team::warps_here; ++w)
          multiply<L, L + count == layers>(state[w], first + (team.first_warp() + w) * samples,
                                           team.scratch + Layout::offset(L) + r * bytes, L + r,
                                           team.first_lane());
      }
    }
  }

  // The weights of a stage, behind whatever the warps still read of the one before.
  template <int Stage, class Team, std::size_t... L>
  PHYLLO_INLINE void load(Team const& team, std::index_sequence<L...>) const {
    team.barrier();
    for (int t = 0; t < Team::threads_here; ++t)
      (load_layer<Stage, int(L)>(team.scratch, team.first_thread() + t), ...);
    team.barrier();
  }
  template <int Stage, int L> PHYLLO_INLINE void load_layer(std::byte* scratch, int thread) const {
    if constexpr (Layout::stage_of(L) == Stage) pack<L>(scratch + Layout::offset(L), L, thread);
  }
  template <int L, class Team> PHYLLO_INLINE void load_alone(Team const& team, int l) const {
    team.barrier();
    for (int t = 0; t < Team::threads_here; ++t) pack<L>(team.scratch, l, team.first_thread() + t);
    team.barrier();
  }
  template <int L> PHYLLO_INLINE void pack(std::byte* scratch, int l, int thread) const {
    packed<L>(scratch).pack(parameters + weight[l],
                            Layout::template Dense<L>::bias ? parameters + bias[l] : nullptr,
                            thread, threads);
  }
  template <int L> PHYLLO_INLINE static auto packed(std::byte* scratch) {
    using Dense = typename Layout::template Dense<L>;
    return PackedWeights<MmaAtom, Dense::inputs, Dense::outputs>{reinterpret_cast<S*>(scratch)};
  }

  template <class Team>
  PHYLLO_INLINE void read(Team const& team, Inputs (&next)[Team::warps_here], long first) const {
    for (int w = 0; w < Team::warps_here; ++w)
      read(next[w], first + (team.first_warp() + w) * samples, team.first_lane());
  }
  PHYLLO_INLINE static void take(State& state, Inputs const& next) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < tiles; ++m) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < Layout::groups(Layout::inputs(0)); ++k)
        for (int i = 0; i < emulated_lanes; ++i) state.value[m][k][i] = next.value[m][k][i];
    }
  }
  PHYLLO_INLINE void read(Inputs& next, long first, int first_lane) const {
    constexpr int groups = Layout::groups(Layout::inputs(0));
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < tiles; ++m) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < groups; ++k) {
        for (int i = 0; i < emulated_lanes; ++i) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int part = 0; part < MmaAtom::parts; ++part)
            MmaAtom::put(next.value[m][k][i], part,
                         source.read(first + m * 16 + MmaAtom::sample(first_lane + i, part),
                                     k * 16 + MmaAtom::channel(first_lane + i)));
        }
      }
    }
  }

  // Layer l, whose type is that of layer L: values -> sums -> values, or the caller's output.
  template <int L, bool IsLast>
  PHYLLO_INLINE void multiply(State& state, long first, std::byte* scratch, int l,
                              int first_lane) const {
    using Dense = typename Layout::template Dense<L>;
    constexpr int out = Layout::groups(Dense::outputs);
    auto const weights = packed<L>(scratch);
    typename MmaAtom::Sums sums[tiles][out][MmaAtom::blocks][emulated_lanes];
    weights.begin(sums, first_lane);
    weights.multiply(sums, state.value, first_lane);
    Randomness element = random;
    element.position += position[l];
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < tiles; ++m) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int n = 0; n < out; ++n) {
        for (int i = 0; i < emulated_lanes; ++i) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int part = 0; part < MmaAtom::parts; ++part) {
            int const lane = first_lane + i, channel = n * 16 + MmaAtom::channel(lane);
            long const sample = first + m * 16 + MmaAtom::sample(lane, part);
            Accumulator4<MmaAtom> value(sums[m][n], i, part);
            if (IsLast && l == layers - 1) {
              value.template apply<typename Dense::chain>(element, int(sample), channel);
              target.write(sample, channel, value);
            } else {
              MmaAtom::put(state.value[m][n][i], part,
                           value.template finished<typename Dense::chain, Dense::outputs>(
                               element, int(sample), channel));
            }
          }
        }
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
