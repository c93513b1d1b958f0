// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/number_text.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/data/sample_statistics.hpp>
#include <phyllo/fit/agreed_clock.hpp>
#include <phyllo/fit/agreed_error.hpp>
#include <phyllo/network/ports.hpp>
#include <phyllo/policy/agreement.hpp>
#include <phyllo/policy/communication.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// How fit_normalisation reads its source.
struct NormalisationOptions {
  bool source_per_rank =
      false;  // each rank's source has samples of its own; else all have the same
};

namespace detail {

/// A Normalise or Denormalise of a network, and the array of a source that its constants are from.
struct FittedLayer {
  int node = -1;
  int array = -1;  // number of the input, or of the output behind all inputs; -1: of neither
  bool normalises = false;
  bool by_range = false;
  bool per_element = false;
};

template <class Net, class L> void add_fitted_layer(int i, std::vector<FittedLayer>& layers) {
  if constexpr (requires { L::normalises; }) {
    using AllPorts = Ports<Net>;
    Node const& n = Net::program::nodes.node[i];
    FittedLayer layer{i, -1, L::normalises, L::by_range, L::per_element};
    for (int k = 0; L::normalises && k < AllPorts::inputs; ++k)
      if (AllPorts::input_node(k) == n.source[0] && AllPorts::input_shape(k) == n.output)
        layer.array = k;
    for (int k = 0; !L::normalises && k < AllPorts::outputs; ++k)
      if (AllPorts::output_node(k) == i && AllPorts::output_shape(k) == n.output)
        layer.array = AllPorts::inputs + k;
    layers.push_back(layer);
  }
}
template <class Net, class... L> std::vector<FittedLayer> fitted_layers(TypeList<L...>) {
  std::vector<FittedLayer> layers;
  int i = 0;
  (add_fitted_layer<Net, L>(i++, layers), ...);
  return layers;
}

/// Refuses layers without an array of a source, and arrays with other extents.
template <class Net>
void check_arrays(std::string const& who, std::vector<FittedLayer> const& layers,
                  std::vector<SampleArray> const& arrays) {
  std::vector<std::string> names;  // as in files
  Net::program::lowered::name_leaves(names, "");
  for (FittedLayer const& layer : layers) {
    std::string const at = who + ", layer " + names[std::size_t(layer.node)];
    if (layer.array < 0)
      throw Error(at +
                  ": expected Normalise directly behind an input of the network, and Denormalise "
                  "as the last layer of an output, got one between other layers. Move it there.");
    if (std::size_t(layer.array) >= arrays.size())
      throw Error(at +
                  ": expected a source with the arrays of all inputs and then of the targets, at "
                  "least " +
                  std::to_string(layer.array + 1) + " arrays, got " +
                  std::to_string(arrays.size()) + ". Add the targets to the source.");
    Shape const shape = Net::program::nodes.node[layer.node].output;
    std::vector<std::int64_t> expected;
    for (int d = 0; d <= shape.rank; ++d) expected.push_back(shape.extent(d));
    SampleArray const& array = arrays[std::size_t(layer.array)];
    bool const is_one = array.shape.empty() && shape.size() == 1;
    if (array.shape != expected && !is_one)
      throw Error(at + ": expected samples with extents " + shape_text(expected) + " in " +
                  array.name + ", got " + shape_text(array.shape) +
                  ". The arrays are those of the inputs, then of the targets, in the order of the "
                  "network.");
  }
}

/// Where the constants of element e of an array (C, S...) are, from the first of a layer.
inline int constant_of(FittedLayer const& layer, Shape const& shape, int e) {
  int const c = e / shape.positions(), s = e % shape.positions();
  return layer.per_element ? s * shape.channels + c : c;
}

/// One model without a trainer, in the form that ranks agree in.
template <class M> struct SingleModel {
  using ModelType = M;
  using space = typename M::space;
  space const& instance;
  M& of;
  Local alone = {};
  space const& exec() const { return instance; }
  M& model() { return of; }
  Local& sums() { return alone; }
};

/// The constants of a network's normalisations, from the samples of all ranks.
template <class T, class S> class NormalisationFit {
  using M = typename T::ModelType;
  using Net = typename M::network;

 public:
  NormalisationFit(T& trainer, S& source, NormalisationOptions const& options)
      : trainer_(trainer),
        source_(source),
        options_(options),
        layers_(fitted_layers<Net>(typename Net::program::leaves{})) {}

  void run() {
    std::vector<double> slots;
    agree_on_errors(trainer_, [&] { check(); });
    agree_on_sources();
    agree_on_errors(trainer_, [&] { slots = moments_of_this_rank(); });
    for (std::size_t at = 0; at < slots.size(); at += longest_message)
      sum_over_ranks(trainer_, slots.data() + at,
                     int(std::min(longest_message, slots.size() - at)));
    agree_on_errors(trainer_, [&] { store(slots); });
    trainer_.model().weights_changed(trainer_.exec());
  }

 private:
  static constexpr std::size_t longest_message = std::size_t(1) << 24;
  static constexpr char const* who = "fit_normalisation: ";
  static constexpr double most = 0.1;  // of the spread, by which rounding may move the data
  // Ranks have whole parts of the samples, whose moments are merged in their order: the result does
  // not depend on the number of ranks. At most 1024 parts, fewer where their moments are many.
  static constexpr long most_parts = 1024, fewest_parts = 16;

  SampleStatistics statistics() const {
    std::vector<SampleStatistics::Wanted> wanted;
    for (FittedLayer const& layer : layers_) wanted.push_back({layer.array, layer.per_element});
    return {source_.arrays(), wanted};
  }
  void check() const {
    std::string const name = trainer_.model().name();
    if (layers_.empty())
      throw Error(who + name + ": expected a network with Normalise or Denormalise, got none.");
    check_arrays<Net>(who + name, layers_, source_.arrays());
    if (source_.samples() < 1 && !options_.source_per_rank)
      throw Error(who + name + ": expected at least one sample, got none.");
  }
  // Ranks add their parts of one list of samples: with other lists, other numbers of them.
  void agree_on_sources() {
    Agreement mine;
    mine.add("source_per_rank", options_.source_per_rank ? "true" : "false");
    if (!options_.source_per_rank) {
      mine.add("samples of the source", std::to_string(source_.samples()));
      mine.add("samples of a block", std::to_string(source_.block()));
    }
    agree(trainer_.exec(), trainer_.sums(), who + trainer_.model().name(), mine,
          "Pass the same source on all ranks, or set NormalisationOptions::source_per_rank on all "
          "of them.");
  }
  std::vector<double> moments_of_this_rank() {
    auto& sums = trainer_.sums();
    long const rank = sums.rank(), ranks = sums.size(), samples = source_.samples();
    long const size = statistics().stored_size();
    if (options_.source_per_rank) {
      std::vector<double> slots(std::size_t(ranks * size), 0.0);
      add_part(0, samples, slots.data() + rank * size);
      return slots;
    }
    long const block = std::max(1L, long(source_.block())), blocks = (samples + block - 1) / block;
    long const parts =
        std::min(blocks, std::clamp(long(longest_message) / size, fewest_parts, most_parts));
    std::vector<double> slots(std::size_t(parts * size), 0.0);
    for (long p = parts * rank / ranks; p < parts * (rank + 1) / ranks; ++p)
      add_part(std::min(samples, blocks * p / parts * block),
               std::min(samples, blocks * (p + 1) / parts * block), slots.data() + p * size);
    return slots;
  }
  void add_part(long first, long last, double* slot) {
    SampleStatistics part = statistics();
    part.add(source_, first, last);
    part.store(slot);
  }
  void store(std::vector<double> const& slots) {
    SampleStatistics all = statistics();
    for (std::size_t at = 0; at < slots.size(); at += std::size_t(all.stored_size()))
      all.merge(slots.data() + at);
    if (all.count() == 0)
      throw Error(std::string(who) + "expected at least one sample on some rank, got none.");
    auto& model = trainer_.model();
    auto const& exec = trainer_.exec();
    auto const buffers = Kokkos::create_mirror(Kokkos::HostSpace{}, model.buffers());
    Kokkos::deep_copy(exec, buffers, model.buffers());
    exec.fence("phyllo: normalisation");
    for (std::size_t k = 0; k < layers_.size(); ++k) {
      FittedLayer const& layer = layers_[k];
      Node const& n = Net::program::nodes.node[layer.node];
      std::vector<Moments> const& moments = all.moments(k);
      for (int g = 0; g < int(moments.size()); ++g) {
        Moments const& m = moments[std::size_t(g)];
        double const count = all.count() * all.numbers(k);
        double const begin = layer.by_range || m.is_constant() ? m.minimum : m.mean;
        double const width = m.is_constant()  ? 1
                             : layer.by_range ? m.maximum - m.minimum
                                              : m.deviation(count);
        float const offset = float(begin), scale = float(width);
        if (!std::isfinite(offset) || !std::isfinite(scale))
          throw Error(who + model.name() +
                      ": expected data within the range of float, got a mean of " +
                      std::to_string(m.mean) + " and a deviation of " +
                      std::to_string(m.deviation(count)) + ". Use other units.");
        if (width < std::numeric_limits<float>::min())
          throw Error(who + model.name() +
                      ": expected data whose spread is within the range of "
                      "float, got " +
                      number_text(width) + ". Use other units.");
        // A constant becomes zero with samples that are rounded to float as it is.
        bool const is_exact = m.is_constant() && sizeof(typename M::storage) <= sizeof(float);
        if (double const moved = std::fabs(begin - double(offset)) / width;
            !is_exact && moved > most)
          throw Error(who + model.name() + ": expected data whose offset float can state, got " +
                      number_text(begin) + " with a spread of " + number_text(width) +
                      ", which rounding would move by " + number_text(moved) +
                      " of it. Subtract a constant from the data.");
        int const at = layer.per_element ? constant_of(layer, n.output, g) : g;
        buffers(std::size_t(n.buffer + at)) = offset;
        buffers(std::size_t(n.buffer + n.buffer_tensor[0].count + at)) = scale;
      }
    }
    Kokkos::deep_copy(exec, model.buffers(), buffers);
    exec.fence("phyllo: normalisation");
  }

  T& trainer_;
  S& source_;
  NormalisationOptions options_;
  std::vector<FittedLayer> layers_;
};

}  // namespace detail

/// Computes the constants of all Normalise and Denormalise of a trainer's network: each Normalise
/// from the input that it follows, each Denormalise from the targets of the output that it
/// precedes. Collective; call it once before training. `save` and checkpoints contain the result.
///
/// shape    arrays of the source: those of the inputs, then those of the targets, in the order of
///          the network
/// options  source_per_rank: each rank's source has samples of its own; else every rank can read
///          all samples of the same source
/// threads  as Trainer
/// errors   run: arrays of other extents, no samples, a number that is not finite, a layer that is
///          between others, an offset or a spread that float cannot state, ranks whose sources
///          have other samples without source_per_rank; those of the source -> the same Error on
///          all ranks, and nothing is changed
/// numerics in double, the same bits on any number of ranks unless source_per_rank is set. The
///          deviation is that of numpy.std. A channel whose numbers are all the same has scale 1
/// cost     one read of the samples, divided among the ranks; one sum of at most 2^24 numbers
template <class T, class S>
  requires SampleSource<std::remove_reference_t<S>> && requires(T& trainer) { trainer.sums(); }
void fit_normalisation(T& trainer, S&& source, NormalisationOptions const& options = {}) {
  detail::NormalisationFit<T, std::remove_reference_t<S>>(trainer, source, options).run();
}
/// The same for a model of one process.
template <class M, class S>
  requires SampleSource<std::remove_reference_t<S>>
void fit_normalisation(typename M::space const& exec, M& model, S&& source) {
  detail::SingleModel<M> single{exec, model};
  detail::NormalisationFit<detail::SingleModel<M>, std::remove_reference_t<S>>(single, source, {})
      .run();
}

}  // namespace phyllo::inline PHYLLO_ISA
