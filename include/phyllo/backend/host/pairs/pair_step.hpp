// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/pairs/pair_instruction.hpp>

#if defined(PHYLLO_HAS_PAIRS)

#include <phyllo/backend/host/segment/gradient_tensors.hpp>
#include <phyllo/backend/host/segment/result_gradient.hpp>
#include <phyllo/backend/host/segment/tile_prefetch.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>
#include <phyllo/core/type_list.hpp>

#include <cstring>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::host {

/// A whole training step of Linear layers in bfloat16, or their backward pass, 64 samples at a
/// time: all three products of a layer are sums over pairs of neighbouring depths.
///
/// options  Instruction: AmxPairs or DotPairs · Op: WholeStep or SegmentBackward
/// numerics those of Instruction; values and their gradients are rounded to bfloat16
/// cost     packs the weights twice a piece of the batch, values and gradients once a tile
template <class Instruction, class Op, class P, class Segment = typename Op::segment>
class PairStep;
template <class Instruction, class Op, class P, class... D>
class PairStep<Instruction, Op, P, op::Segment<D...>> {
  using Work = typename Op::template Run<P>;
  using Result = ResultGradient<Op, float>;
  template <int Layer> using Dense = At<TypeList<D...>, std::size_t(Layer)>;
  static constexpr int layers = sizeof...(D);
  static constexpr int inputs[] = {D::inputs...};
  static constexpr int outputs[] = {D::outputs...};
  static constexpr bool of_input[] = {D::chain::derivative_of == Derivative::input...};
  static constexpr bool has_input_gradient = !op::has_loss<Op>;
  // The result is read where a loss or the last chain's derivative reads it.
  static constexpr bool needs_result =
      op::has_loss<Op> || Dense<layers - 1>::chain::derivative_of != Derivative::nothing;
  static constexpr int rows = 64;  // samples of a tile
  static constexpr int samples_deep = rows / PairPacking::depth;
  static constexpr int tile = PairPacking::tile;

  // Numbers of rows and of columns, in tiles of operands.
  static constexpr int wide(int count) { return PairPacking::up_to(count, PairPacking::columns); }
  static constexpr int deep(int count) { return PairPacking::up_to(count, PairPacking::depth); }
  template <class Size> static constexpr int sum(int count, Size const& size) {
    int total = 0;
    for (int l = 0; l < count; ++l) total += size(l);
    return total;
  }
  // Value l is the input of layer l; the last one the output. Rows of bfloat16.
  static constexpr int stride(int value) {
    return deep(value < layers ? inputs[value] : outputs[layers - 1]) * PairPacking::depth;
  }
  static constexpr int value_at(int l) {
    return sum(l, [](int i) { return rows * stride(i); });
  }
  static constexpr int saved_at(int l) {
    return sum(l, [](int i) { return i > 0 && of_input[i - 1] ? rows * stride(i) : 0; });
  }
  static constexpr int weight_at(int l) {
    return sum(l, [](int i) { return deep(inputs[i]) * wide(outputs[i]) * tile; });
  }
  static constexpr int transposed_at(int l) {
    return sum(l, [](int i) {
      return i > 0 || has_input_gradient ? deep(outputs[i]) * wide(inputs[i]) * tile : 0;
    });
  }
  static constexpr int d_weight_at(int l) {
    return sum(l, [](int i) { return wide(inputs[i]) * wide(outputs[i]) * tile / 2; });
  }
  static constexpr int bias_at(int l) {
    return sum(l, [](int i) { return wide(outputs[i]) * PairPacking::columns; });
  }
  static constexpr int widest = [] {
    int most = 0;
    for (int l = 0; l <= layers; ++l) most = stride(l) > most ? stride(l) : most;
    return most;
  }();
  static constexpr int last = outputs[layers - 1];
  static constexpr int line = wide(last) * PairPacking::columns;

  struct alignas(64) Memory {
    alignas(64) bf16 value[value_at(layers)];
    alignas(64) bf16 saved[saved_at(layers + 1) + 1];
    alignas(64) bf16 d[2][rows * widest];
    alignas(64) float d_weight[d_weight_at(layers)];
    alignas(64) float d_bias[bias_at(layers)];
    alignas(64) float bias[bias_at(layers)];
    // What follows is written before it is read.
    alignas(64) bf16 weight[weight_at(layers)];
    alignas(64) bf16 transposed[transposed_at(layers) + 1];
    alignas(64) bf16 left[rows * widest];
    alignas(64) bf16 right[rows * widest];
    alignas(64) float sum[Instruction::together * rows * PairPacking::columns];
    alignas(64) float y[rows * line], d_y[rows * line], kept[rows * line];
    alignas(64) float target[op::has_loss<Op> ? rows * line : 1];
  };

 public:
  static constexpr long bytes = long(sizeof(Memory));

  PairStep(Work const& work, std::byte* memory)
      : work_(work), m_(*reinterpret_cast<Memory*>(memory)) {
    std::memset(static_cast<void*>(&m_), 0,
                std::size_t(reinterpret_cast<std::byte*>(m_.weight) - memory));
    for (int l = 0; l < layers; ++l) {
      bf16 const* const weight = work.forward.parameters + work.forward.weight[l];
      PairPacking::pack(weight, inputs[l], outputs[l], m_.weight + weight_at(l));
      if (l > 0 || gives_input_gradient())
        PairPacking::pack_transposed(weight, inputs[l], outputs[l],
                                     m_.transposed + transposed_at(l));
      if (work.forward.bias[l] >= 0)
        for (int o = 0; o < outputs[l]; ++o)
          m_.bias[bias_at(l) + o] = float(work.forward.parameters[work.forward.bias[l] + o]);
    }
  }

  /// Samples [first, last) of the caller's tensors; their gradients are written.
  void run(ExternalTensor const& source, long first, long end,
           GradientTensors<float> const& gradients) {
    for (long n = first; n < end; n += rows) {
      int const count = int(end - n < rows ? end - n : rows);
      TileTransfer<bf16>::load(source, n, count, inputs[0], m_.value, stride(0));
      // Rows without a sample repeat the last one: from zeros, a layer may compute infinity, and
      // infinity times their gradient of zero is NaN.
      for (int r = count; r < rows; ++r)
        std::memcpy(static_cast<void*>(m_.value + r * stride(0)),
                    m_.value + (count - 1) * stride(0), sizeof(bf16) * std::size_t(stride(0)));
      int const next = int(end - n - count < rows ? end - n - count : rows);
      constexpr int calls = layers * 4;
      TilePrefetch<false> read(source, n + count, next, inputs[0], calls);
      TilePrefetch<false> wanted(Result::tensor(work_, last), n + count, next,
                                 Result::channels(last), calls);
      auto const between = [&] {
        read();
        wanted();
      };
      [&]<int... I>(std::integer_sequence<int, I...>) {
        (forward<I>(int(n), between), ...);
        result_gradient(n, count);
        (backward<layers - 1 - I>(int(n), count), ...);
      }(std::make_integer_sequence<int, layers>{});
    }
    for (int l = 0; l < layers; ++l) store(l, gradients);
  }

 private:
  // Lanes that belong to a tensor of which `count` columns are left.
  static __mmask16 numbers(int count, bool inside = true) {
    if (!inside || count <= 0) return 0;
    return __mmask16(count >= PairPacking::columns ? 0xffffu : (1u << count) - 1u);
  }
  static void store(__mmask16 numbers, float const* from, bf16* to) {
    auto const rounded = (__m256i)_mm512_cvtneps_pbh(_mm512_load_ps(from));
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_mov_epi16(numbers, rounded));
  }
  static __m512 widened(__m256i x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
  }
  static __m512 load(bf16 const* from) {
    return widened(_mm256_load_si256(reinterpret_cast<__m256i const*>(from)));
  }
  bool gives_input_gradient() const {
    if constexpr (has_input_gradient)
      return work_.d_x != nullptr;
    else
      return false;
  }
  template <int Layer> Randomness randomness() const {
    Randomness random = work_.forward.random;
    random.position += work_.forward.position[Layer];
    return random;
  }

  // Columns are multiplied some panels of 16 at a time; then each calls epilogue(column, its sums).
  template <class Epilogue>
  PHYLLO_INLINE_ON_HOST void multiply(bf16 const* a, int a_stride, bf16 const* b, int depths,
                                      int widths, Epilogue const& epilogue) {
    for (int w = 0; w < widths; w += Instruction::together) {
      int const panels = widths - w < Instruction::together ? widths - w : Instruction::together;
      Instruction::template multiply<rows>(rows, a, a_stride, b + w * depths * tile, depths, panels,
                                           m_.sum);
      for (int p = 0; p < panels; ++p)
        epilogue((w + p) * PairPacking::columns, m_.sum + p * rows * PairPacking::columns);
    }
  }

  template <int Layer, class Between> void forward(int n, Between const& between) {
    if constexpr (Layer + 1 == layers && !needs_result) return;
    using Chain = typename Dense<Layer>::chain;
    constexpr int depths = deep(Dense<Layer>::inputs), widths = wide(Dense<Layer>::outputs);
    auto const epilogue = [&](int column, float* sum) {
      between();
      __mmask16 const inside = numbers(Dense<Layer>::outputs - column);
      __m512 const bias = _mm512_load_ps(m_.bias + bias_at(Layer) + column);
      Randomness const random = randomness<Layer>();
      for (int r = 0; r < rows; ++r) {
        alignas(64) float row[PairPacking::columns];
        _mm512_store_ps(row, _mm512_add_ps(_mm512_load_ps(sum + r * PairPacking::columns), bias));
        if constexpr (of_input[Layer])
          store(inside, row, m_.saved + saved_at(Layer + 1) + r * stride(Layer + 1) + column);
        if constexpr (Chain::length > 0) {
          PHYLLO_SIMD(16)
          for (int i = 0; i < PairPacking::columns; ++i)
            row[i] = Chain::value(row[i], element<Chain>(random, n + r, column + i));
        }
        if constexpr (Layer + 1 < layers)
          store(inside, row, m_.value + value_at(Layer + 1) + r * stride(Layer + 1) + column);
        else
          _mm512_store_ps(m_.y + r * line + column,
                          widened((__m256i)_mm512_cvtneps_pbh(_mm512_load_ps(row))));
      }
    };
    multiply(m_.value + value_at(Layer), stride(Layer), m_.weight + weight_at(Layer), depths,
             widths, epilogue);
  }
  template <class Chain>
  PHYLLO_INLINE_ON_HOST static Element element([[maybe_unused]] Randomness const& random,
                                               [[maybe_unused]] int n,
                                               [[maybe_unused]] int column) {
    if constexpr (Chain::random)
      return random.element(n, column);
    else
      return {};
  }

  // The gradient of the last layer's sums.
  void result_gradient(long n, int count) {
    static_assert(Result::numbers_of_channel == 0);
    Result::run(work_, n, count, last, m_.y, m_.target, m_.d_y, line, nullptr);
    for (int c = 0; c < line; c += PairPacking::columns) {
      __m512 d_bias = _mm512_setzero_ps();
      for (int r = 0; r < rows; ++r) {
        float const* const from =
            of_input[layers - 1] ? m_.kept + r * line + c : m_.y + r * line + c;
        if constexpr (of_input[layers - 1])
          _mm512_store_ps(m_.kept + r * line + c,
                          load(m_.saved + saved_at(layers) + r * stride(layers) + c));
        __mmask16 const inside = numbers(last - c, r < count);
        alignas(64) float row[PairPacking::columns];
        _mm512_store_ps(row, widened((__m256i)_mm512_cvtneps_pbh(
                                 _mm512_maskz_load_ps(inside, m_.d_y + r * line + c))));
        differentiate<layers - 1>(row, from, int(n) + r, c);
        d_bias = _mm512_add_ps(d_bias, store_gradient<layers - 1>(row, r, c, inside));
      }
      add_to_bias<layers - 1>(c, d_bias);
    }
  }
  // d chain'(kept) for 16 channels of a sample.
  template <int Layer> void differentiate(float* d, float const* kept, int n, int column) const {
    using Chain = typename Dense<Layer>::chain;
    if constexpr (Chain::length > 0) {
      Randomness const random = randomness<Layer>();
      PHYLLO_SIMD(16)
      for (int i = 0; i < PairPacking::columns; ++i)
        d[i] *= Chain::derivative(kept[i], element<Chain>(random, n, column + i));
    }
  }
  // 16 channels of sample r become the gradient of layer Layer's sums; as they are rounded.
  template <int Layer>
  __m512 store_gradient(float const* row, int r, int column, __mmask16 inside) {
    bf16* const to = m_.d[Layer % 2] + r * stride(Layer + 1) + column;
    store(inside, row, to);
    return load(to);
  }
  template <int Layer> void add_to_bias(int column, __m512 d) {
    float* const to = m_.d_bias + bias_at(Layer) + column;
    _mm512_store_ps(to, _mm512_add_ps(_mm512_load_ps(to), d));
  }

  template <int Layer> void backward(int n, [[maybe_unused]] int count) {
    constexpr int in = wide(Dense<Layer>::inputs), out = wide(Dense<Layer>::outputs);
    bf16 const* const d = m_.d[Layer % 2];
    PairPacking::pack_samples<samples_deep>(m_.value + value_at(Layer), stride(Layer), in, m_.left,
                                            Instruction::takes_transposed);
    PairPacking::pack_samples<samples_deep>(d, stride(Layer + 1), out, m_.right, false);
    float* const d_weight = m_.d_weight + d_weight_at(Layer);
    for (int i = 0; i < in; ++i)
      Instruction::template add<samples_deep>(m_.left + i * samples_deep * tile, m_.right, out,
                                              d_weight + i * out * tile / 2);
    if constexpr (Layer > 0) {
      constexpr int depths = deep(Dense<Layer>::outputs);
      // The other gradient's rows are of another length: beyond their columns stand zeros.
      if constexpr (stride(Layer) > in * PairPacking::columns)
        for (int r = 0; r < rows; ++r)
          std::memset(static_cast<void*>(m_.d[(Layer + 1) % 2] + r * stride(Layer) +
                                         in * PairPacking::columns),
                      0, sizeof(bf16) * PairPacking::columns);
      auto const epilogue = [&](int column, float* sum) {
        __mmask16 const inside = numbers(Dense<Layer>::inputs - column);
        bf16 const* const kept =
            (of_input[Layer - 1] ? m_.saved + saved_at(Layer) : m_.value + value_at(Layer)) +
            column;
        __m512 d_bias = _mm512_setzero_ps();
        for (int r = 0; r < rows; ++r) {
          alignas(64) float before[PairPacking::columns], row[PairPacking::columns];
          _mm512_store_ps(before, load(kept + r * stride(Layer)));
          _mm512_store_ps(row, _mm512_load_ps(sum + r * PairPacking::columns));
          differentiate<Layer - 1>(row, before, n + r, column);
          d_bias = _mm512_add_ps(d_bias, store_gradient<Layer - 1>(row, r, column, inside));
        }
        add_to_bias<Layer - 1>(column, d_bias);
      };
      multiply(d, stride(Layer + 1), m_.transposed + transposed_at(Layer), depths, in, epilogue);
    } else if constexpr (has_input_gradient) {
      if (gives_input_gradient()) input_gradient(n, count);
    }
  }
  // Of samples [n, n + count).
  void input_gradient(int n, int count) {
    constexpr int depths = deep(outputs[0]), in = wide(inputs[0]);
    auto const epilogue = [&](int column, float* sum) {
      __mmask16 const inside = numbers(inputs[0] - column);
      for (int r = 0; r < count; ++r) {
        bf16* const to = work_.d_x + long(n + r) * inputs[0] + column;
        __m512 row = _mm512_load_ps(sum + r * PairPacking::columns);
        if (work_.accumulate_gradient)
          row = _mm512_add_ps(widened(_mm256_maskz_loadu_epi16(inside, to)), row);
        _mm256_mask_storeu_epi16(to, inside, (__m256i)_mm512_cvtneps_pbh(row));
      }
    };
    multiply(m_.d[0], stride(1), m_.transposed + transposed_at(0), depths, in, epilogue);
  }

  // The gradients of layer l, from squares side by side.
  void store(int l, GradientTensors<float> const& gradients) const {
    float* const to = gradients.of_weight(l);
    float const* from = m_.d_weight + d_weight_at(l);
    for (int i = 0; i < inputs[l]; i += PairPacking::rows)
      for (int o = 0; o < outputs[l]; o += PairPacking::columns, from += tile / 2)
        for (int r = 0; r < PairPacking::rows && i + r < inputs[l]; ++r)
          _mm512_mask_storeu_ps(to + long(i + r) * outputs[l] + o, numbers(outputs[l] - o),
                                _mm512_load_ps(from + r * PairPacking::columns));
    if (work_.forward.bias[l] >= 0)
      std::memcpy(gradients.of_bias(l), m_.d_bias + bias_at(l),
                  sizeof(float) * std::size_t(outputs[l]));
  }

  Work const& work_;
  Memory& m_;
  typename Instruction::Session session_;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif
