// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/type_list.hpp>
#include <phyllo/fusion/plan.hpp>
#include <phyllo/model/explain_text.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

inline char const* fused_text(Step const& s, SegmentRole first) {
  if (s.kind == StepKind::segment)
    return first == SegmentRole::dense || first == SegmentRole::batch_normalization
               ? narrow_segment_name
               : image_segment_name;
  return s.rule < 0 ? "" : rules[s.rule].name;
}

// `layer`: the name of the layer that is no layer of a segment.
inline std::string reason_text(FusionEnd const& end, char const* backend, char const* layer) {
  std::string const name = std::string("backend ") + backend, found = grouped(end.found),
                    limit = ", " + name + " takes " + grouped(end.most);
  switch (end.reason) {
    case EndReason::level:
      return "the FusionLevel of the execution";
    case EndReason::chain_read:
    case EndReason::read_outside:
      return "a value is read elsewhere";
    case EndReason::other_input:
      return "the next layer reads another value";
    case EndReason::recompute:
      return "a Recompute begins or ends there";
    case EndReason::outside_value:
      return "a sum with a value from outside";
    case EndReason::not_a_layer:
      return std::string(layer) + " is no layer of a segment here";
    case EndReason::sums:
      return name + " takes no sums";
    case EndReason::windows:
      return name + " takes no convolutions and poolings";
    case EndReason::normalizations:
      return name + " takes no normalisations";
    case EndReason::batch_statistics:
      return "statistics of a batch are known when all of it has passed";
    case EndReason::row_norms:
      return name + " takes no normalisations of rows";
    case EndReason::channels:
      return found + " channels" + limit;
    case EndReason::features:
      return found + " inputs of a layer behind images" + limit;
    case EndReason::layers:
      return found + " layers" + limit;
    case EndReason::parameters:
      return found + " parameters" + limit;
    case EndReason::values:
      return found + " numbers of a sample" + limit;
    case EndReason::scratch:
      return "scratch memory of " + name + ": " + kibibytes(end.found) + " wanted, " +
             kibibytes(end.most) + " there";
    case EndReason::few_layers:
      return found + (end.found == 1 ? " Linear layer" : " Linear layers") + limit + " or more";
    case EndReason::no_rows:
      return "no Linear layer behind the images";
    case EndReason::none:
      break;
  }
  return "";
}

// What ended the fusion of a step, as a line; empty: the network ends, or there is nothing to tell.
inline std::string end_text(Step const& s, char const* backend, char const* layer) {
  if (s.end.reason == EndReason::none) return "";
  char const* const what = s.kind == StepKind::segment             ? "segment ends: "
                           : s.end.reason == EndReason::chain_read ? "epilogue ends: "
                                                                   : "no segment: ";
  return line("  %3s  %s%s\n", "", what, reason_text(s.end, backend, layer).c_str());
}

template <class Planned, int S> constexpr char const* end_name() {
  constexpr FusionEnd end = Planned::step(S).end;
  if constexpr (end.reason == EndReason::not_a_layer)
    return At<typename Planned::leaves, end.found>::name;
  else
    return "";
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
