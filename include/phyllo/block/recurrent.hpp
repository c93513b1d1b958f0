// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/op/gru_cell.hpp>
#include <phyllo/op/lstm_cell.hpp>
#include <phyllo/op/rnn_cell.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Options of recurrent layers.
///
/// options  Layers: one above the other, each with weights of its own · Bidirectional: beside each
///          one a second one that runs backwards, their outputs side by side · InitialState: tags
///          of the values (an input or a Save) with the first states of all layers and directions
///          side by side; zeros without · FinalState: saves the last states, in the same order,
///          under these tags · SequenceLengths: the tag of an integer input, the valid times of
///          each sample · Nonlinearity: of RNN, Tanh or ReLU
template <int Count> struct Layers {};
struct Bidirectional {};
template <class... Tag> struct InitialState {};
template <class... Tag> struct FinalState {};
template <class... Tag> struct SequenceLengths {};
template <class Function> struct Nonlinearity {};

namespace detail {

// Functions that op::RNNCell has.
template <class Function> inline constexpr Activation nonlinearity_of = Activation::other;
template <> inline constexpr Activation nonlinearity_of<Tanh> = Activation::hyperbolic_tangent;
template <> inline constexpr Activation nonlinearity_of<ReLU> = Activation::rectifier;

template <class Option> inline constexpr bool is_rectifier = false;
template <> inline constexpr bool is_rectifier<Nonlinearity<ReLU>> = true;
template <class... Options> constexpr Activation find_nonlinearity() {
  return (is_rectifier<Options> || ...) ? Activation::rectifier : Activation::hyperbolic_tangent;
}
template <class Cell> inline constexpr bool is_plain_recurrence = false;
template <Activation F> inline constexpr bool is_plain_recurrence<op::RNNCell<F>> = true;

// What the options of a recurrent layer say.
struct RecurrentOptions {
  int layers = 1;
  bool bidirectional = false;
  bool bias = true;
  int initial = 0, final = 0;  // tags
  bool lengths = false;
  int given[7] = {};  // how often each is
  bool known = true;

  template <int Count> constexpr void read(Layers<Count>) { layers = Count, ++given[0]; }
  constexpr void read(Bidirectional) { bidirectional = true, ++given[1]; }
  template <bool Present> constexpr void read(Bias<Present>) { bias = Present, ++given[2]; }
  template <class... Tag> constexpr void read(InitialState<Tag...>) {
    initial = sizeof...(Tag), ++given[3];
  }
  template <class... Tag> constexpr void read(FinalState<Tag...>) {
    final = sizeof...(Tag), ++given[4];
  }
  template <class... Tag> constexpr void read(SequenceLengths<Tag...>) {
    lengths = true;
    known = known && sizeof...(Tag) == 1;
    ++given[5];
  }
  template <class Function> constexpr void read(Nonlinearity<Function>) {
    known = known && nonlinearity_of<Function> != Activation::other;
    ++given[6];
  }
  constexpr void read(...) { known = false; }

  template <class... Options> static constexpr RecurrentOptions of() {
    RecurrentOptions o;
    (o.read(Options{}), ...);
    return o;
  }
  constexpr bool are_valid(int hidden, int states, bool has_nonlinearity) const {
    for (int const times : given)
      if (times > 1) return false;
    bool const has_states =
        (given[3] == 0 || initial == states) && (given[4] == 0 || final == states);
    return known && hidden > 0 && layers > 0 && layers < 100 && has_states &&
           (given[6] == 0 || has_nonlinearity);
  }
};

// The option of a name, or the default.
template <template <class...> class Name, class... Options> struct FindTags {
  using type = Name<>;
};
template <template <class...> class Name, class... Tag, class... Rest>
struct FindTags<Name, Name<Tag...>, Rest...> {
  using type = Name<Tag...>;
};
template <template <class...> class Name, class First, class... Rest>
struct FindTags<Name, First, Rest...> : FindTags<Name, Rest...> {};

}  // namespace detail

/// A recurrent layer: a cell over all times of a sequence. The states of each time follow from
/// those of the time before, h' = cell(W_ih x + b_ih, W_hh h + b_hh). Write RNN, LSTM or GRU, or
/// this with a cell of your own (op::Scan).
///
/// shape    (N, C, T) -> (N, directions H, T); (N, C), one time -> (N, directions H)
/// options  Layers<1> · Bidirectional · Bias<true> · InitialState<h...> · FinalState<h...> ·
///          SequenceLengths<tag>
/// state    weight_ih_l0 (gates H, C) · weight_hh_l0 (gates H, H) · bias_ih_l0 and bias_hh_l0
///          (gates H); _l1 of the second layer, _l0_reverse of the other direction; they begin
///          uniform within 1 / sqrt(H)
/// errors   compile: more than one extent; an option unknown or twice; another number of tags than
///          the cell has states; states or lengths of another shape; run: a length outside of
///          0 .. T makes the outputs of its sample not a number, so that the step is skipped
/// numerics beyond its length a sample keeps its state, and outputs are zero; the second direction
///          begins at the last valid time. Sums in Precision::accumulate
/// cost     2 N T gates H (C + H) flop for each layer and direction; the input's part of all times
///          is one product. Training keeps what the gates computed
/// source   Elman, Cognitive Science 14 (1990) 179; torch.nn.RNN
template <class Cell, int Hidden, class... Options> struct Recurrent : detail::NoLayer {
  using recurrent = Recurrent;
  using cell = Cell;
  static constexpr int hidden = Hidden;
  static constexpr detail::RecurrentOptions options = detail::RecurrentOptions::of<Options...>();
  static constexpr bool valid_options =
      options.are_valid(Hidden, Cell::states, detail::is_plain_recurrence<Cell>);
  using initial_state = typename detail::FindTags<InitialState, Options...>::type;
  using final_state = typename detail::FindTags<FinalState, Options...>::type;
  using lengths = typename detail::FindTags<SequenceLengths, Options...>::type;

  // Read only where wrong options made it stay in the list.
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<false, Where>,
        "RNN, LSTM, GRU: the options are Layers<n>, Bidirectional, Bias<...>, "
        "InitialState<...>, FinalState<...> (LSTM: two tags, h and c; else one) and "
        "SequenceLengths<tag>, each once, and Nonlinearity<Tanh> or <ReLU> of RNN; hidden "
        "size and layers must be positive.");
  };
};

/// Long short-term memory; options, state and cost as Recurrent's. With the sums (i, f, g, o) =
/// W_ih x + b_ih + W_hh h + b_hh: c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c').
///
/// shape    (N, C, T) -> (N, directions H, T)
/// options  InitialState<h, c> · FinalState<h, c> · those of Recurrent
/// errors   as Recurrent
/// source   Hochreiter and Schmidhuber, Neural Computation 9 (1997) 1735; torch.nn.LSTM
template <int Hidden, class... Options>
struct LSTM : Recurrent<op::LSTMCell, Hidden, Options...> {};

/// Gated recurrent unit; options, state and cost as Recurrent's. With the sums (r, z) of both
/// products and both biases, and the sums n of the input and n_h of the state: h' = (1 -
/// sigmoid(z)) tanh(n + sigmoid(r) n_h) + sigmoid(z) h.
///
/// shape    (N, C, T) -> (N, directions H, T)
/// options  those of Recurrent
/// errors   as Recurrent
/// source   Cho et al., EMNLP 2014; torch.nn.GRU
template <int Hidden, class... Options> struct GRU : Recurrent<op::GRUCell, Hidden, Options...> {};

/// The plain recurrence h' = f(W_ih x + b_ih + W_hh h + b_hh); options, state and cost as
/// Recurrent's.
///
/// shape    (N, C, T) -> (N, directions H, T)
/// options  Nonlinearity<Tanh>, or ReLU · those of Recurrent
/// errors   as Recurrent
/// source   Elman, Cognitive Science 14 (1990) 179; torch.nn.RNN
template <int Hidden, class... Options>
struct RNN : Recurrent<op::RNNCell<detail::find_nonlinearity<Options...>()>, Hidden, Options...> {};

}  // namespace phyllo::inline PHYLLO_ISA
