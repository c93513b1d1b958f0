// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/data/convert_elements.hpp>
#include <phyllo/data/sample_source.hpp>
#include <phyllo/fit/fit_normalisation.hpp>

#include <Kokkos_Core.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// A source whose targets are what a network computes in front of its Denormalise layers:
/// (t - mean) / std. To train a network without these layers, so that the loss has no units:
/// NormalisedTargets(exec, model, source).
///
/// shape    as the source; targets without a Denormalise are as they are
/// state    a copy of the model's constants, as they are at construction
/// threads  as the source; one thread at a time
/// errors   run: a network without Denormalise, arrays of other extents -> Error; those of the
///          source
/// numerics in double; the results are float64 where the targets are, else float32
/// cost     one pass over the targets
template <SampleSource S> class NormalisedTargets {
 public:
  template <class M>
  NormalisedTargets(typename M::space const& exec, M const& model, S source)
      : source_(std::move(source)), arrays_(source_.arrays()) {
    using Net = typename M::network;
    auto layers = detail::fitted_layers<Net>(typename Net::program::leaves{});
    std::erase_if(layers, [](detail::FittedLayer const& layer) { return layer.normalises; });
    std::string const who = "NormalisedTargets: " + model.name();
    if (layers.empty())
      throw Error(who +
                  ": expected a network with Denormalise, got none. Pass the network whose "
                  "outputs are in the units of the targets.");
    detail::check_arrays<Net>(who, layers, arrays_);
    auto const buffers = Kokkos::create_mirror(Kokkos::HostSpace{}, model.buffers());
    Kokkos::deep_copy(exec, buffers, model.buffers());
    exec.fence("phyllo: normalised targets");
    for (detail::FittedLayer const& layer : layers) {
      Node const& n = Net::program::nodes.node[layer.node];
      Constants constants;
      constants.array = std::size_t(layer.array);
      for (int e = 0; e < n.output.size(); ++e) {
        auto const at = std::size_t(n.buffer + detail::constant_of(layer, n.output, e));
        constants.offset.push_back(double(buffers(at)));
        constants.scale.push_back(double(buffers(at + std::size_t(n.buffer_tensor[0].count))));
      }
      SampleArray& array = arrays_[constants.array];
      constants.convert = detail::convert_from<double>(array.type);
      if (constants.convert == nullptr)
        throw Error(who + ": " + array.name + ": expected numbers, got " +
                    std::string(element_name(array.type)) + ".");
      constants.sample_bytes = array.bytes();
      if (array.type != ElementType::f64) array.type = ElementType::f32;
      constants_.push_back(std::move(constants));
    }
  }

  long samples() const { return source_.samples(); }
  long block() const { return source_.block(); }
  std::vector<SampleArray> const& arrays() const { return arrays_; }
  void read(long first, long count, std::byte* const* to) {
    std::vector<std::byte*> places(to, to + arrays_.size());
    for (Constants& c : constants_) {
      c.bytes.resize(std::size_t(count * c.sample_bytes));
      places[c.array] = c.bytes.data();
    }
    source_.read(first, count, places.data());
    for (Constants const& c : constants_) {
      std::size_t const elements = c.offset.size();
      numbers_.resize(std::size_t(count) * elements);
      c.convert(c.bytes.data(), reinterpret_cast<std::byte*>(numbers_.data()),
                long(numbers_.size()));
      for (std::size_t i = 0; i < numbers_.size(); ++i)
        numbers_[i] = (numbers_[i] - c.offset[i % elements]) / c.scale[i % elements];
      if (arrays_[c.array].type == ElementType::f64)
        std::memcpy(to[c.array], numbers_.data(), numbers_.size() * sizeof(double));
      else
        detail::convert_elements<double, float>(reinterpret_cast<std::byte*>(numbers_.data()),
                                                to[c.array], long(numbers_.size()));
    }
  }

 private:
  // Of one array of targets: for each element.
  struct Constants {
    std::size_t array = 0;
    std::vector<double> offset, scale;
    std::vector<std::byte> bytes;  // as the source has them
    detail::ConvertElements convert = nullptr;
    long sample_bytes = 0;
  };

  S source_;
  std::vector<SampleArray> arrays_;
  std::vector<Constants> constants_;
  std::vector<double> numbers_;
};

}  // namespace phyllo::inline PHYLLO_ISA
