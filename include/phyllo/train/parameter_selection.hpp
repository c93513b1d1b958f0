// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/type_name.hpp>
#include <phyllo/model/parameter_table.hpp>
#include <phyllo/network/network_tensors.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// A choice among the parameter tensors of a network, for groups and frozen layers:
/// ParameterSelection::biases_and_norms(), ParameterSelection::of_layers("conv*") |
/// ParameterSelection::named("0.*").
///
/// options  a | b: either · a & b: both · ~a: all others. In a pattern, * is any text
/// state    patterns only: one choice serves any network
/// errors   run, where it is used: a part or the whole that selects no tensor -> Error with all
///          names
class ParameterSelection {
 public:
  static ParameterSelection all() { return {By::all, "ParameterSelection::all()"}; }
  /// Matrices, convolution kernels and tables.
  static ParameterSelection weights() { return {By::weights, "ParameterSelection::weights()"}; }
  /// All tensors of one dimension: biases, factors and shifts of normalisations, slopes.
  static ParameterSelection biases_and_norms() {
    return {By::vectors, "ParameterSelection::biases_and_norms()"};
  }
  /// By the layer's name in `explain` and in messages: "linear", "conv2d", "*_norm".
  static ParameterSelection of_layers(std::string const& pattern) {
    return {By::layer, "ParameterSelection::of_layers(\"" + pattern + "\")", pattern};
  }
  /// By the tensor's name in files: "0.weight", "3.*", "*.bias".
  static ParameterSelection named(std::string const& pattern) {
    return {By::name, "ParameterSelection::named(\"" + pattern + "\")", pattern};
  }
  /// Those of all layers that the value saved as Save<Tag> or Output<Tag> depends on; without those
  /// of another tag, the layers in between: up_to<b>() & ~up_to<a>().
  template <class Tag> static ParameterSelection up_to() {
    return {By::tag, "ParameterSelection::up_to<" + type_name<Tag>() + ">()", {}, tag_id<Tag>};
  }

  friend ParameterSelection operator|(ParameterSelection a, ParameterSelection const& b) {
    return join(a, b, By::either);
  }
  friend ParameterSelection operator&(ParameterSelection a, ParameterSelection const& b) {
    return join(a, b, By::both);
  }
  friend ParameterSelection operator~(ParameterSelection a) {
    a.parts_.push_back({By::others, "", "", nullptr});
    return a;
  }

  /// Which tensors of a network they are, in the order of network_tensors. who: begins messages.
  template <class Net> std::vector<bool> among(std::string const& who) const {
    auto const all = candidates<Net>();
    std::vector<std::vector<bool>> stack;
    for (Part const& part : parts_) {
      if (part.by == By::others) {
        stack.back().flip();
      } else if (part.by == By::either || part.by == By::both) {
        auto const right = stack.back();
        stack.pop_back();
        for (std::size_t t = 0; t < right.size(); ++t)
          stack.back()[t] =
              part.by == By::both ? stack.back()[t] && right[t] : stack.back()[t] || right[t];
      } else {
        std::vector<bool> const before =
            part.by == By::tag ? leaves_before<Net>(part.tag) : std::vector<bool>();
        std::vector<bool> chosen;
        for (Candidate const& one : all) chosen.push_back(part.selects(one, before));
        refuse_none(who, part.text, chosen, all);
        stack.push_back(chosen);
      }
    }
    refuse_none(who, "the selection as a whole", stack.back(), all);
    return stack.back();
  }

 private:
  enum class By { all, weights, vectors, layer, name, tag, either, both, others };
  struct Candidate {
    std::string name, layer;
    TensorUse use = TensorUse::weight;
    int leaf = 0;
  };
  // Of an expression in postfix order.
  struct Part {
    By by = By::all;
    std::string text, pattern;
    TagId tag = nullptr;

    bool selects(Candidate const& one, std::vector<bool> const& before) const {
      switch (by) {
        case By::weights:
          return one.use == TensorUse::weight;
        case By::vectors:
          return one.use != TensorUse::weight;
        case By::layer:
          return matches(pattern, one.layer);
        case By::name:
          return matches(pattern, one.name);
        case By::tag:
          return before[std::size_t(one.leaf)];
        default:
          return true;
      }
    }
  };

  ParameterSelection(By by, std::string text, std::string pattern = {}, TagId tag = nullptr)
      : parts_{{by, std::move(text), std::move(pattern), tag}} {}

  static ParameterSelection join(ParameterSelection& a, ParameterSelection const& b, By how) {
    a.parts_.insert(a.parts_.end(), b.parts_.begin(), b.parts_.end());
    a.parts_.push_back({how, "", "", nullptr});
    return a;
  }
  static bool matches(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern.front() != '*')
      return !text.empty() && pattern.front() == text.front() &&
             matches(pattern.substr(1), text.substr(1));
    for (std::size_t skipped = 0; skipped <= text.size(); ++skipped)
      if (matches(pattern.substr(1), text.substr(skipped))) return true;
    return false;
  }
  template <class... L> static std::vector<std::string> names_of(TypeList<L...>) {
    return {std::string(L::name)...};
  }
  template <class Net> static std::vector<Candidate> candidates() {
    constexpr auto tensors = network_tensors(Net::program::nodes);
    auto const layers = names_of(typename Net::program::leaves{});
    std::vector<Candidate> all;
    for (ParameterEntry const& entry : parameter_table<Net>()) {
      if (entry.is_buffer) continue;
      NetworkTensor const& t = tensors.tensor[all.size()];
      all.push_back({entry.name, layers[std::size_t(t.node)], t.use, t.node});
    }
    return all;
  }
  // Sources come before what reads them.
  template <class Net> static std::vector<bool> leaves_before(TagId tag) {
    constexpr auto const& graph = Net::program::edges;
    int value = graph.find(tag);
    for (int k = 0; k < graph.outputs; ++k)
      if (graph.output_tag[k] == tag) value = graph.output[k];
    std::vector<bool> found(std::size_t(Net::program::size), false);
    if (value >= 0) found[std::size_t(value)] = true;
    for (int leaf = value; leaf >= 0; --leaf)
      for (int s = 0; found[std::size_t(leaf)] && s < graph.source_count[leaf]; ++s)
        if (graph.sources[leaf][s] >= 0) found[std::size_t(graph.sources[leaf][s])] = true;
    return found;
  }
  static void refuse_none(std::string const& who, std::string const& what,
                          std::vector<bool> const& chosen, std::vector<Candidate> const& all) {
    for (bool const one : chosen)
      if (one) return;
    std::string names;
    for (std::size_t t = 0; t < all.size() && t < 64; ++t)
      names += (t == 0 ? "" : ", ") + all[t].name + " (" + all[t].layer + ")";
    if (all.size() > 64) names += " and " + std::to_string(all.size() - 64) + " more";
    throw Error(who + ": expected a selection of at least one parameter tensor, but " + what +
                " selects none of " + (names.empty() ? "a network without parameters" : names) +
                ".");
  }

  std::vector<Part> parts_;
};

}  // namespace phyllo::inline PHYLLO_ISA
