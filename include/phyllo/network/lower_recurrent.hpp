// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/block/recurrent.hpp>
#include <phyllo/layer/scan.hpp>
#include <phyllo/network/lower.hpp>

#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// A recurrent layer as leaves: for each layer and direction the input's projection and the scan;
/// the two directions side by side; behind all layers the last states.
///
/// state    every leaf has the path of the whole layer, since torch's names contain the rest
template <class R> struct LowerRecurrent {
  static constexpr bool numbered = true;
  using First = detail::Recurrence<R, 0>;
  static constexpr detail::RecurrentOptions options = R::options;
  static constexpr int directions = First::directions, places = First::places;
  static constexpr bool carries = First::carried > 0;

  template <class... Layer> using List = TypeList<Layer...>;
  template <int Place>
  using OneDirection =
      Join<List<detail::ScanProjection<R, Place>, detail::ScanLayer<R, Place>>,
           std::conditional_t<carries, List<detail::ScanPart<R, Place, 0, false>>, List<>>,
           std::conditional_t<Place % directions == 1, List<Concat>, List<>>>;
  // The part of a scan's rows that state number S is.
  static constexpr int part_of(int s) {
    return s < First::carried_from ? 0 : 1 + s - First::carried_from;
  }
  template <int S, int Place>
  using Last = Join<List<detail::ScanPart<R, Place, part_of(S), true>>,
                    std::conditional_t<(Place > 0), List<Concat>, List<>>>;

  template <std::size_t... P> static auto join_layers(std::index_sequence<P...>) {
    return Join<OneDirection<int(P)>...>{};
  }
  template <int S, std::size_t... P> static auto join_last(std::index_sequence<P...>) {
    return Join<Last<S, int(P)>...>{};
  }
  template <std::size_t... S> static auto join_states(std::index_sequence<S...>) {
    return Join<decltype(join_last<int(S)>(std::make_index_sequence<places>{}))...>{};
  }
  using leaves =
      Join<decltype(join_layers(std::make_index_sequence<places>{})),
           decltype(join_states(std::make_index_sequence<std::size_t(options.final)>{}))>;

  template <class G> static constexpr int append_to(G& graph, int current) {
    int scan[places] = {};
    for (int layer = 0; layer < options.layers; ++layer) {
      int ends[2] = {};
      for (int d = 0; d < directions; ++d) {
        int const end = graph.append(graph.append(current));
        read(graph, typename R::initial_state{});
        read(graph, typename R::lengths{});
        scan[layer * directions + d] = end;
        ends[d] = carries ? graph.append(end) : end;
      }
      current = directions == 2 ? graph.append(ends[0], ends[1]) : ends[0];
    }
    save(graph, scan, typename R::final_state{});
    return current;
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    names.insert(names.end(), std::size_t(leaves::size), path);
  }

 private:
  // Sources of the scan that was appended last.
  template <class G, class... Tag> static constexpr void read(G& graph, InitialState<Tag...>) {
    (graph.add_source(graph.read(tag_id<Tag>)), ...);
  }
  template <class G, class... Tag> static constexpr void read(G& graph, SequenceLengths<Tag...>) {
    (graph.add_source(graph.read(tag_id<Tag>)), ...);
  }
  template <class G, class... Tag>
  static constexpr void save(G& graph, int const (&scan)[places], FinalState<Tag...>) {
    (graph.save(tag_id<Tag>, last(graph, scan)), ...);
  }
  template <class G> static constexpr int last(G& graph, int const (&scan)[places]) {
    int all = graph.append(scan[0]);
    for (int p = 1; p < places; ++p) all = graph.append(all, graph.append(scan[p]));
    return all;
  }
};

template <class Part>
  requires requires {
    typename Part::recurrent;
    requires Part::valid_options;
  }
struct Lower<Part> : LowerRecurrent<Part> {};

}  // namespace phyllo::inline PHYLLO_ISA
