// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/step_gradients.hpp>
#include <phyllo/backend/gpu/step_rows.hpp>
#include <phyllo/backend/gpu/team.hpp>
#include <phyllo/backend/gpu/tile_rows.hpp>
#include <phyllo/op/row.hpp>

#include <cstddef>
#include <utility>

namespace phyllo::gpu {

/// Forward, loss, backward and parameter gradients of a segment in one pass over the batch. Each
/// warp of a block takes 16 samples through all layers and back, as in inference; the gradients of
/// weights are products over the samples of all warps of the block, which meet in scratch memory. A
/// block keeps their sums in registers over all its tiles and writes them to its row of the
/// workspace once.
///
/// cost     memory traffic is input, targets and loss values, and a row of gradients for each block
template <class Unit, class Segment, class L, class P, int Warps> struct whole_step_tiles;
template <class Unit, class... D, class L, class P, int Warps>
struct whole_step_tiles<Unit, op::Segment<D...>, L, P, Warps> {
  using S = typename P::storage;
  using Segment = op::Segment<D...>;
  using Layout = StepLayout<Unit, Segment, Warps>;
  using Layers = typename Layout::Layers;
  using Rows = StepRows<Unit, Layout>;
  static constexpr int here = Unit::here;
  static constexpr int layers = Layout::layers;
  static constexpr int widest = Layers::widest();
  static constexpr int outputs = Layers::outputs(layers - 1);
  static constexpr int scratch_bytes = Layout::scratch_bytes;
  static constexpr int warps = Warps;
  static constexpr int threads = warps * Unit::lanes;
  static constexpr int samples_of_block = Layout::samples;
  template <int Layer> using Dense = typename Layers::template Dense<Layer>;

  TileRows<Unit, Layers::inputs(0)> source;
  ExternalTensor targets;
  StepState const* state = nullptr;
  S const* parameters = nullptr;
  float* partial = nullptr;  // (blocks, parameter_count)
  float* values = nullptr;   // (N)
  float* hits = nullptr;     // (N) or nullptr
  float loss_weight = 1;
  int parameter_count = 0;
  int weight[layers] = {};
  int bias[layers] = {};
  int position[layers] = {};
  Randomness random;

  whole_step_tiles(typename op::WholeStep<Segment, L>::template Run<P> const& work,
                   ExternalTensor const& from)
      : source(from, work.forward.batch),
        targets(work.targets),
        state(work.state),
        parameters(work.forward.parameters),
        partial(work.partial),
        values(work.values),
        hits(work.hits),
        loss_weight(work.weight),
        parameter_count(work.parameter_count),
        random(work.forward.random) {
    for (int l = 0; l < layers; ++l) {
      weight[l] = work.forward.weight[l];
      bias[l] = work.forward.bias[l];
      position[l] = work.forward.position[l];
    }
  }

  /// What a warp keeps in registers.
  struct State {
    typename Unit::Values value[1][widest][here];  // of the layer at hand, or its gradients
    StepGradients<Unit, Layout> gradients;
  };

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    State states[Team::warps_here] = {};
    Rows const rows{team.scratch};
    float* const row = partial + long(team.block()) * parameter_count;
    for (int t = team.first_thread(); t < team.last_thread(); ++t) {
      for (int i = t; i < parameter_count; i += threads) row[i] = 0;
      load(rows, t, all_layers{});
    }
    team.barrier();
    long const step = long(team.blocks()) * samples_of_block;
    for (long first = long(team.block()) * samples_of_block; first < source.batch; first += step) {
      for (int w = team.first_warp(); w < team.last_warp(); ++w)
        forward_and_loss(states[w - team.first_warp()], rows, first + w * 16, w, team.first_lane());
      backward(team, states, rows, first, all_layers{});
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
    S const* const from = parameters + weight[Layer];
    rows.template weights<Layer>().pack(
        from, Dense<Layer>::bias ? parameters + bias[Layer] : nullptr, thread, threads);
    if constexpr (Layer > 0)
      rows.template transposed<Layer>().pack_transposed(from, thread, threads);
  }
  template <int Layer> PHYLLO_INLINE Randomness randomness() const {
    Randomness of_layer = random;
    of_layer.position += position[Layer];
    return of_layer;
  }

  PHYLLO_INLINE void forward_and_loss(State& s, Rows const& rows, long first, int warp,
                                      int first_lane) const {
    S* const x = rows.template value<0>(warp);
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < Layers::groups(Layers::inputs(0)); ++k) {
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < Unit::parts; ++part) {
          int const lane = first_lane + i;
          Four<S> const four =
              source.read(first + Unit::sample(lane, part), k * 16 + Unit::channel(lane));
          Unit::put(s.value[0][k][i], part, four);
          Rows::template four<0>(x, k, lane, part) = four;
        }
      }
    }
    forward(s, rows, first, warp, first_lane, all_layers{});
    Unit::synchronize();
    for (int i = 0; i < here; ++i) loss(rows, first, warp, first_lane + i);
    Unit::synchronize();
    gradient_of_outputs(s, rows, first, warp, first_lane);
  }
  template <std::size_t... I>
  PHYLLO_INLINE void forward(State& s, Rows const& rows, long first, int warp, int first_lane,
                             std::index_sequence<I...>) const {
    (forward_layer<int(I)>(s, rows, first, warp, first_lane), ...);
  }
  template <int Layer>
  PHYLLO_INLINE void forward_layer(State& s, Rows const& rows, long first, int warp,
                                   int first_lane) const {
    constexpr int out = Layers::groups(Dense<Layer>::outputs);
    auto const packed = rows.template weights<Layer>();
    typename Unit::Sums sums[1][out][Unit::blocks][here];
    packed.begin(sums, first_lane);
    packed.multiply(sums, s.value, first_lane);
    auto const element = randomness<Layer>();
    S* const y = rows.template value<Layer + 1>(warp);
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < out; ++n) {
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < Unit::parts; ++part) {
          int const lane = first_lane + i;
          FourSums<Unit> four(sums[0][n], i, part);
          if constexpr (Layout::keeps_input(Layer))
            Rows::template four<Layer + 1>(rows.template saved<Layer>(warp), n, lane, part) =
                Unit::rounded(four.value);
          int const sample = int(first) + Unit::sample(lane, part);
          int const channel = n * 16 + Unit::channel(lane);
          four.template apply<typename Dense<Layer>::chain>(element, sample, channel);
          if constexpr (Dense<Layer>::chain::length > 0) {
            four.template end_at<Dense<Layer>::outputs>(channel);
            if (sample >= source.batch) four = FourSums<Unit>{};
          }
          Four<S> const stored = Unit::rounded(four.value);
          Unit::put(s.value[0][n][i], part, stored);
          Rows::template four<Layer + 1>(y, n, lane, part) = stored;
        }
      }
    }
  }

  // The first 16 lanes take a sample each; its row of gradients is zero beyond the batch.
  PHYLLO_INLINE void loss(Rows const& rows, long first, int warp, int lane) const {
    if (lane >= 16) return;
    constexpr int stride = Layout::stride(layers), padded = Layers::groups(outputs) * 16;
    S* const d_row = rows.template value<layers + 1>(warp) + lane * stride;
    long const n = first + lane;
    for (int c = n < source.batch ? outputs : 0; c < padded; ++c) d_row[c] = S{};
    if (n >= source.batch) return;
    op::OutputRow<S, float> const z{rows.template value<layers>(warp) + lane * stride};
    op::TargetRow<L, float> const target(targets, int(n), Shape{outputs}, 0);
    float const scale = state != nullptr ? state->loss_scale : 1.0f;
    op::GradientRow<S, float> const gradient{d_row, loss_weight * scale, false};
    values[n] = loss_weight * L::template row<float>(outputs, z, target, gradient);
    if (hits != nullptr) hits[n] = op::hit<L, float>(outputs, z, target);
  }

  // d loss / d outputs times the derivative of the last chain, where the outputs were.
  PHYLLO_INLINE void gradient_of_outputs(State& s, Rows const& rows, long first, int warp,
                                         int first_lane) const {
    S* const d_y = rows.template value<layers + 1>(warp);
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < Layers::groups(outputs); ++n) {
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < Unit::parts; ++part) {
          FourSums<Unit> four(Rows::template four<layers + 1>(d_y, n, first_lane + i, part));
          differentiate<layers - 1>(four, s, rows, first, warp, n, first_lane, i, part);
        }
      }
    }
  }
  // Behind the chain of a layer -> before it, in the place of the layer's output.
  template <int Layer>
  PHYLLO_INLINE void differentiate(FourSums<Unit>& four, State& s, Rows const& rows, long first,
                                   int warp, int n, int first_lane, int i, int part) const {
    using Chain = typename Dense<Layer>::chain;
    int const lane = first_lane + i;
    Four<S>& place =
        Rows::template four<Layer + 1>(rows.template value<Layer + 1>(warp), n, lane, part);
    if constexpr (Chain::length > 0) {
      Four<S> kept = place;
      if constexpr (Layout::keeps_input(Layer))
        kept = Rows::template four<Layer + 1>(rows.template saved<Layer>(warp), n, lane, part);
      int const channel = n * 16 + Unit::channel(lane);
      four.template differentiate<Chain>(FourSums<Unit>(kept), randomness<Layer>(),
                                         int(first) + Unit::sample(lane, part), channel);
      four.template end_at<Dense<Layer>::outputs>(channel);
    }
    // Behind the batch a chain's derivative may be no number.
    if (first + Unit::sample(lane, part) >= source.batch) four = FourSums<Unit>{};
    place = Unit::rounded(four.value);
    Unit::put(s.value[0][n][i], part, place);
  }

  template <class Team, std::size_t... I>
  PHYLLO_INLINE void backward(Team const& team, State (&states)[Team::warps_here], Rows const& rows,
                              long first, std::index_sequence<I...>) const {
    (backward_layer<layers - 1 - int(I)>(team, states, rows, first), ...);
  }
  template <int Layer, class Team>
  PHYLLO_INLINE void backward_layer(Team const& team, State (&states)[Team::warps_here],
                                    Rows const& rows, long first) const {
    constexpr int in = Layers::groups(Dense<Layer>::inputs);
    // Of one layer in registers; a barrier lies between its computation and its use.
    typename Unit::Sums d_x[Team::warps_here][1][in][Unit::blocks][here] = {};
    team.barrier();
    for (int w = team.first_warp(); w < team.last_warp(); ++w) {
      State& s = states[w - team.first_warp()];
      s.gradients.template add_weights<Layer>(rows, w, team.first_lane());
      s.gradients.template add_bias<Layer>(rows, w, team.first_lane());
      if constexpr (Layer > 0)
        rows.template transposed<Layer>().multiply(d_x[w - team.first_warp()], s.value,
                                                   team.first_lane());
    }
    team.barrier();
    if constexpr (Layer > 0) {
      for (int w = team.first_warp(); w < team.last_warp(); ++w) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int k = 0; k < in; ++k) {
          for (int i = 0; i < here; ++i) {
            PHYLLO_UNROLL_ON_DEVICE
            for (int part = 0; part < Unit::parts; ++part) {
              FourSums<Unit> four(d_x[w - team.first_warp()][0][k], i, part);
              differentiate<Layer - 1>(four, states[w - team.first_warp()], rows, first + w * 16, w,
                                       k, team.first_lane(), i, part);
            }
          }
        }
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
    for (int w = team.first_warp(); w < team.last_warp(); ++w) {
      auto const& gradients = states[w - team.first_warp()].gradients;
      gradients.template write_weights<Layer>(row + weight[Layer], w, team.first_lane());
      if constexpr (Dense<Layer>::bias)
        gradients.template write_bias<Layer>(rows.sums(), w, team.first_lane());
    }
    team.barrier();
    if constexpr (Dense<Layer>::bias)
      for (int t = team.first_thread(); t < team.last_thread(); ++t)
        for (int o = t; o < Dense<Layer>::outputs; o += threads)
          row[bias[Layer] + o] = StepGradients<Unit, Layout>::sum_bias(rows.sums(), o);
  }
};

}  // namespace phyllo::gpu
