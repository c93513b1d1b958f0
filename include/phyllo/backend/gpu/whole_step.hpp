// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/packed_weights.hpp>
#include <phyllo/backend/gpu/step_layout.hpp>
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
    typename Unit::Sums gradient[Layout::slots][Unit::blocks][here];
    float bias_gradient[layers][Layout::bias_channels][here];
  };

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    State states[Team::warps_here] = {};
    float* const row = partial + long(team.block()) * parameter_count;
    for (int t = team.first_thread(); t < team.last_thread(); ++t) {
      for (int i = t; i < parameter_count; i += threads) row[i] = 0;
      load(team.scratch, t, all_layers{});
    }
    team.barrier();
    long const step = long(team.blocks()) * samples_of_block;
    for (long first = long(team.block()) * samples_of_block; first < source.batch; first += step) {
      for (int w = team.first_warp(); w < team.last_warp(); ++w)
        forward_and_loss(states[w - team.first_warp()], team.scratch, first + w * 16, w,
                         team.first_lane());
      backward(team, states, first, all_layers{});
    }
    finish(team, states, row, all_layers{});
  }

 private:
  using all_layers = std::make_index_sequence<layers>;

  template <std::size_t... I>
  PHYLLO_INLINE void load(std::byte* scratch, int thread, std::index_sequence<I...>) const {
    (load_layer<int(I)>(scratch, thread), ...);
  }
  template <int Layer> PHYLLO_INLINE void load_layer(std::byte* scratch, int thread) const {
    S const* const from = parameters + weight[Layer];
    weights<Layer>(scratch).pack(from, Dense<Layer>::bias ? parameters + bias[Layer] : nullptr,
                                 thread, threads);
    if constexpr (Layer > 0) transposed<Layer>(scratch).pack_transposed(from, thread, threads);
  }
  template <int Layer> PHYLLO_INLINE static auto weights(std::byte* scratch) {
    return PackedWeights<Unit, Dense<Layer>::inputs, Dense<Layer>::outputs>{
        reinterpret_cast<std::uint32_t*>(scratch + Layout::weights_at(Layer))};
  }
  template <int Layer> PHYLLO_INLINE static auto transposed(std::byte* scratch) {
    return PackedWeights<Unit, Dense<Layer>::outputs, Dense<Layer>::inputs>{
        reinterpret_cast<std::uint32_t*>(scratch + Layout::transposed_at(Layer))};
  }
  /// Rows of a value, of what the chain of a layer had before it, and of a warp's samples of them.
  template <int Value> PHYLLO_INLINE static S* rows(std::byte* scratch, int warp) {
    return reinterpret_cast<S*>(scratch + Layout::rows_at(Value)) +
           warp * 16 * Layout::stride(Value);
  }
  template <int Layer> PHYLLO_INLINE static S* saved(std::byte* scratch, int warp) {
    return reinterpret_cast<S*>(scratch + Layout::saved_at(Layer)) +
           warp * 16 * Layout::stride(Layer + 1);
  }
  // A lane's four numbers of group k in rows.
  PHYLLO_INLINE static FourStored& four_in(S* rows, int stride, int k, int lane, int part) {
    return *reinterpret_cast<FourStored*>(rows + Unit::sample(lane, part) * stride + k * 16 +
                                          Unit::channel(lane));
  }
  template <int Layer> PHYLLO_INLINE Randomness randomness() const {
    Randomness of_layer = random;
    of_layer.position += position[Layer];
    return of_layer;
  }

  PHYLLO_INLINE void forward_and_loss(State& s, std::byte* scratch, long first, int warp,
                                      int first_lane) const {
    S* const x = rows<0>(scratch, warp);
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < Layers::groups(Layers::inputs(0)); ++k) {
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < Unit::parts; ++part) {
          int const lane = first_lane + i;
          source.read(first, k * 16, lane, part, s.value[0][k][i]);
          auto const& pair = s.value[0][k][i].pair;
          four_in(x, Layout::stride(0), k, lane,
                  part) = {{pair[Unit::value_pair(part, 0)], pair[Unit::value_pair(part, 1)]}};
        }
      }
    }
    forward(s, scratch, first, warp, first_lane, all_layers{});
    Unit::synchronize();
    for (int i = 0; i < here; ++i) loss(scratch, first, warp, first_lane + i);
    Unit::synchronize();
    gradient_of_outputs(s, scratch, first, warp, first_lane);
  }
  template <std::size_t... I>
  PHYLLO_INLINE void forward(State& s, std::byte* scratch, long first, int warp, int first_lane,
                             std::index_sequence<I...>) const {
    (forward_layer<int(I)>(s, scratch, first, warp, first_lane), ...);
  }
  template <int Layer>
  PHYLLO_INLINE void forward_layer(State& s, std::byte* scratch, long first, int warp,
                                   int first_lane) const {
    constexpr int out = Layers::groups(Dense<Layer>::outputs), stride = Layout::stride(Layer + 1);
    auto const packed = weights<Layer>(scratch);
    typename Unit::Sums sums[1][out][Unit::blocks][here];
    packed.begin(sums, first_lane);
    packed.multiply(sums, s.value, first_lane);
    auto const element = randomness<Layer>();
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < out; ++n) {
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < Unit::parts; ++part) {
          int const lane = first_lane + i;
          FourSums<Unit> four(sums[0][n], i, part);
          if constexpr (Layout::keeps_input(Layer))
            four_in(saved<Layer>(scratch, warp), stride, n, lane, part) = four.stored();
          four.template apply<typename Dense<Layer>::chain>(
              element, int(first) + Unit::sample(lane, part), n * 16 + Unit::channel(lane));
          four.pack(s.value[0][n][i], part);
          four_in(rows<Layer + 1>(scratch, warp), stride, n, lane, part) = four.stored();
        }
      }
    }
  }

  // The first 16 lanes take a sample each; its row of gradients is zero beyond the batch.
  PHYLLO_INLINE void loss(std::byte* scratch, long first, int warp, int lane) const {
    if (lane >= 16) return;
    constexpr int stride = Layout::stride(layers), padded = Layers::groups(outputs) * 16;
    S* const d_row = rows<layers + 1>(scratch, warp) + lane * stride;
    long const n = first + lane;
    for (int c = n < source.batch ? outputs : 0; c < padded; ++c) d_row[c] = S::from_bits(0);
    if (n >= source.batch) return;
    op::OutputRow<S, float> const z{rows<layers>(scratch, warp) + lane * stride};
    op::TargetRow<L, float> const target(targets, int(n), Shape{outputs}, 0);
    float const scale = state != nullptr ? state->loss_scale : 1.0f;
    op::GradientRow<S, float> const gradient{d_row, loss_weight * scale, false};
    values[n] = loss_weight * L::template row<float>(outputs, z, target, gradient);
    if (hits != nullptr) hits[n] = op::hit<L, float>(outputs, z, target);
  }

  // d loss / d outputs times the derivative of the last chain, where the outputs were.
  PHYLLO_INLINE void gradient_of_outputs(State& s, std::byte* scratch, long first, int warp,
                                         int first_lane) const {
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < Layers::groups(outputs); ++n) {
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < Unit::parts; ++part) {
          FourSums<Unit> four(four_in(rows<layers + 1>(scratch, warp), Layout::stride(layers), n,
                                      first_lane + i, part));
          differentiate<layers - 1>(four, s, scratch, first, warp, n, first_lane, i, part);
        }
      }
    }
  }
  // Behind the chain of a layer -> before it, in the place of the layer's output.
  template <int Layer>
  PHYLLO_INLINE void differentiate(FourSums<Unit>& four, State& s, std::byte* scratch, long first,
                                   int warp, int n, int first_lane, int i, int part) const {
    using Chain = typename Dense<Layer>::chain;
    constexpr int stride = Layout::stride(Layer + 1);
    int const lane = first_lane + i;
    FourStored& place = four_in(rows<Layer + 1>(scratch, warp), stride, n, lane, part);
    if constexpr (Chain::length > 0) {
      FourStored kept = place;
      if constexpr (Layout::keeps_input(Layer))
        kept = four_in(saved<Layer>(scratch, warp), stride, n, lane, part);
      four.template differentiate<Chain>(FourSums<Unit>(kept), randomness<Layer>(),
                                         int(first) + Unit::sample(lane, part),
                                         n * 16 + Unit::channel(lane));
    }
    // Behind the batch a chain's derivative may be no number.
    if (first + Unit::sample(lane, part) >= source.batch) four = FourSums<Unit>{};
    four.pack(s.value[0][n][i], part);
    place = four.stored();
  }

  template <class Team, std::size_t... I>
  PHYLLO_INLINE void backward(Team const& team, State (&states)[Team::warps_here], long first,
                              std::index_sequence<I...>) const {
    (backward_layer<layers - 1 - int(I)>(team, states, first), ...);
  }
  template <int Layer, class Team>
  PHYLLO_INLINE void backward_layer(Team const& team, State (&states)[Team::warps_here],
                                    long first) const {
    constexpr int in = Layers::groups(Dense<Layer>::inputs);
    // Of one layer in registers; a barrier lies between its computation and its use.
    typename Unit::Sums d_x[Team::warps_here][1][in][Unit::blocks][here];
    team.barrier();
    for (int w = team.first_warp(); w < team.last_warp(); ++w) {
      State& s = states[w - team.first_warp()];
      add_weight_gradients<Layer>(s, team.scratch, w, team.first_lane());
      add_bias_gradients<Layer>(s, team.scratch, w, team.first_lane());
      if constexpr (Layer > 0) {
        for (int k = 0; k < in; ++k)
          for (int b = 0; b < Unit::blocks; ++b)
            for (int i = 0; i < here; ++i) d_x[w - team.first_warp()][0][k][b][i] = {};
        transposed<Layer>(team.scratch)
            .multiply(d_x[w - team.first_warp()], s.value, team.first_lane());
      }
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
              differentiate<Layer - 1>(four, states[w - team.first_warp()], team.scratch,
                                       first + w * 16, w, k, team.first_lane(), i, part);
            }
          }
        }
      }
    }
  }

  // inputs^T gradients over the samples of the block, of the groups that are this warp's.
  template <int Layer>
  PHYLLO_INLINE void add_weight_gradients(State& s, std::byte* scratch, int warp,
                                          int first_lane) const {
    constexpr int groups = Layout::gradient_groups(Layer);
    constexpr int out = Layers::groups(Dense<Layer>::outputs);
    PHYLLO_UNROLL_ON_DEVICE
    for (int slot = 0; slot < (groups + warps - 1) / warps; ++slot) {
      int const group = slot * warps + warp;
      if (group >= groups) continue;
      auto& sums = s.gradient[Layout::slot(Layer) + slot];
      for (int m = 0; m < warps; ++m) {
        typename Unit::Values x[here];
        typename Unit::Weights d_y[Unit::blocks][here];
        Unit::by_channel(x, rows<Layer>(scratch, m) + group / out * 16, Layout::stride(Layer),
                         first_lane);
        Unit::by_channel(d_y, rows<Layer + 1>(scratch, m) + group % out * 16,
                         Layout::stride(Layer + 1), first_lane);
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < Unit::blocks; ++b) Unit::multiply(sums[b], x, d_y[b]);
      }
    }
  }
  // A lane sums every lanes-th channel over the samples of its warp.
  template <int Layer>
  PHYLLO_INLINE void add_bias_gradients(State& s, std::byte* scratch, int warp,
                                        int first_lane) const {
    if constexpr (Dense<Layer>::bias) {
      S const* const d_y = rows<Layer + 1>(scratch, warp);
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int j = 0; j < Layout::bias_channels; ++j) {
          int const c = j * Unit::lanes + first_lane + i;
          if (c >= Dense<Layer>::outputs) continue;
          float sum = 0;
          for (int n = 0; n < 16; ++n) sum += float(d_y[n * Layout::stride(Layer + 1) + c]);
          s.bias_gradient[Layer][j][i] += sum;
        }
      }
    }
  }

  template <class Team, std::size_t... I>
  PHYLLO_INLINE void finish(Team const& team, State (&states)[Team::warps_here], float* row,
                            std::index_sequence<I...>) const {
    for (int w = team.first_warp(); w < team.last_warp(); ++w)
      (write_gradients<int(I)>(states[w - team.first_warp()], row, w, team.first_lane()), ...);
    // The warps' sums of biases meet in the memory of rows, which nobody reads any more.
    auto* const sums = reinterpret_cast<float*>(team.scratch + Layout::rows_at(0));
    (finish_bias<int(I)>(team, states, row, sums), ...);
  }
  template <int Layer>
  PHYLLO_INLINE void write_gradients(State const& s, float* row, int warp, int first_lane) const {
    constexpr int groups = Layout::gradient_groups(Layer);
    constexpr int out = Layers::groups(Dense<Layer>::outputs);
    PHYLLO_UNROLL_ON_DEVICE
    for (int slot = 0; slot < (groups + warps - 1) / warps; ++slot) {
      int const group = slot * warps + warp;
      if (group >= groups) continue;
      for (int i = 0; i < here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < Unit::blocks; ++b) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int e = 0; e < 4; ++e) {
            int const in_channel = group / out * 16 + Unit::gradient_input(first_lane + i, e);
            int const o = group % out * 16 + Unit::gradient_output(first_lane + i, b, e);
            if (in_channel < Dense<Layer>::inputs && o < Dense<Layer>::outputs)
              row[weight[Layer] + in_channel * Dense<Layer>::outputs + o] =
                  s.gradient[Layout::slot(Layer) + slot][b][i].value[e];
          }
        }
      }
    }
  }
  template <int Layer, class Team>
  PHYLLO_INLINE void finish_bias(Team const& team, State (&states)[Team::warps_here], float* row,
                                 float* sums) const {
    if constexpr (Dense<Layer>::bias) {
      constexpr int channels = Layout::bias_channels * Unit::lanes;
      team.barrier();
      for (int w = team.first_warp(); w < team.last_warp(); ++w)
        for (int i = 0; i < here; ++i) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int j = 0; j < Layout::bias_channels; ++j)
            sums[w * channels + j * Unit::lanes + team.first_lane() + i] =
                states[w - team.first_warp()].bias_gradient[Layer][j][i];
        }
      team.barrier();
      for (int t = team.first_thread(); t < team.last_thread(); ++t)
        for (int c = t; c < Dense<Layer>::outputs; c += threads) {
          float sum = 0;
          for (int w = 0; w < warps; ++w) sum += sums[w * channels + c];
          row[bias[Layer] + c] = sum;
        }
    }
  }
};

}  // namespace phyllo::gpu
