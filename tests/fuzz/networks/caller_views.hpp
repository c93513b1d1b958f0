// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "views.hpp"

#include <phyllo/phyllo.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace networks {

template <class N, class... Before>
auto with_last(phyllo::Tensors<Before...> const& before, N const& last) {
  return phyllo::Tensors<N, Before...>{last, before};
}

/// The caller's Views of all inputs or outputs of a network, in their own memory.
template <class Net, class InTags, class S> class CallerViews {
  using AllPorts = phyllo::Ports<Net>;
  using Element = typename S::element;

 public:
  CallerViews(std::vector<Port> const& ports, int batch) : ports_(ports), batch_(batch) {
    for (Port const& p : ports) {
      auto const extents = S::flat ? std::vector<int>{p.size()} : p.extents;
      memory_.push_back(
          std::make_shared<Memory<Element>>(p.entries > 0 ? 0 : batch, extents, S::layout));
      integers_.emplace_back(p.entries > 0 ? batch : 0, extents, S::layout);
    }
  }
  void write(Tensors const& x) {
    for (std::size_t k = 0; k < x.size(); ++k)
      if (ports_[k].entries > 0)
        integers_[k].write(x[k]);
      else
        memory_[k]->write(x[k]);
  }
  /// Each of these in the place of one of `others` of the same extents; whether there is one.
  bool take_memory_of(CallerViews const& others) {
    std::vector<bool> taken(others.ports_.size());
    bool any = false;
    for (std::size_t k = 0; k < ports_.size(); ++k)
      for (std::size_t i = 0; i < taken.size(); ++i) {
        if (taken[i] || others.ports_[i].entries > 0 ||
            others.ports_[i].extents != ports_[k].extents)
          continue;
        memory_[k] = others.memory_[i];
        taken[i] = any = true;
        break;
      }
    return any;
  }
  /// Nothing for integers.
  Tensors read() {
    Tensors all;
    for (std::size_t k = 0; k < ports_.size(); ++k) {
      int const count = ports_[k].entries > 0 ? 0 : batch_ * ports_[k].size();
      all.push_back(memory_[k]->read(std::size_t(count)));
    }
    return all;
  }
  /// Of the inputs of numbers.
  auto input_gradients() {
    if constexpr (InTags::size == 0)
      return view<false, 0, Element>();
    else
      return named_gradients<0>(phyllo::tensors());
  }
  template <class Tags, bool IsOutput, bool IsConst> auto views() {
    using T = std::conditional_t<IsConst, Element const, Element>;
    if constexpr (Tags::size == 0)
      return view<IsOutput, 0, T>();
    else
      return named_views<Tags, IsOutput, T>(std::make_index_sequence<Tags::size>{});
  }

 private:
  template <bool IsOutput> static constexpr int rank(int k) {
    if (S::flat) return 2;
    return 2 + (IsOutput ? AllPorts::output_shape(k) : AllPorts::input_shape(k)).rank;
  }
  template <class Tags, bool IsOutput, class T, std::size_t... K>
  auto named_views(std::index_sequence<K...>) {
    return phyllo::tensors(phyllo::named<phyllo::At<Tags, int(K)>>(view<IsOutput, int(K), T>())...);
  }
  template <int K, class Before> auto named_gradients(Before const& before) {
    if constexpr (K == InTags::size)
      return before;
    else if constexpr (AllPorts::takes_integers(K))
      return named_gradients<K + 1>(before);
    else
      return named_gradients<K + 1>(
          with_last(before, phyllo::named<phyllo::At<InTags, K>>(view<false, K, Element>())));
  }
  static constexpr bool is_integer(bool is_output, int k) {
    return !is_output && AllPorts::takes_integers(k);
  }
  template <bool IsOutput, int K, class T> auto view() {
    if constexpr (is_integer(IsOutput, K))
      return view_in<IsOutput, K, typename S::label const>(integers_[std::size_t(K)]);
    else
      return view_in<IsOutput, K, T>(*memory_[std::size_t(K)]);
  }
  template <bool IsOutput, int K, class T, class M> auto view_in(M& memory) {
    if constexpr (S::layout == Layout::gathered)
      return gathered_view_of<T>(memory);
    else
      return view_of<rank<IsOutput>(K), T>(memory);
  }
  std::vector<Port> const& ports_;
  int batch_;
  std::vector<std::shared_ptr<Memory<Element>>> memory_;
  std::vector<Memory<typename S::label>> integers_;
};

}  // namespace networks
