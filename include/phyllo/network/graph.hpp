// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Identity of a tag type as a value.
using TagId = void const*;

namespace detail {
// A static member, because Clang prints the arguments of a class but not those of a variable.
template <class Tag> struct Named {
  static constexpr char identity = 0;
};
}  // namespace detail
template <class Tag> inline constexpr TagId tag_id = &detail::Named<Tag>::identity;

/// What lowering may find wrong with tags.
enum class TagMistake { none, unknown, output_twice, input_twice, too_many };

/// The edges between the leaves of a network, as lowering finds them.
///
/// numerics source -1: no value yet. After a mistake leaf 0 stands in for a value that does not
///          exist, so that one mistake gives one message
template <int Leaves> struct Graph {
  static constexpr int max_sources = 4;
  static constexpr int max_tags = 32;
  static constexpr int max_outputs = 8;

  int size = 0;
  int sources[Leaves][max_sources] = {};
  int source_count[Leaves] = {};
  int recomputed[Leaves] = {};  // number of the Recompute that a leaf is in; 0: none
  int recomputations = 0, depth = 0;
  TagId tag[max_tags] = {};
  int tagged[max_tags] = {};
  bool is_input[max_tags] = {};
  int tags = 0;
  TagId output_tag[max_outputs] = {};
  int output[max_outputs] = {};
  int outputs = 0;
  TagMistake mistake = TagMistake::none;  // the first one
  TagId mistaken = nullptr;
  int mistaken_at = 0;  // leaves before it

  constexpr int append(int source) {
    sources[size][0] = source;
    source_count[size] = 1;
    recomputed[size] = depth > 0 ? recomputations : 0;
    return size++;
  }
  constexpr int append(int a, int b) {
    append(a);
    add_source(b);
    return size - 1;
  }
  // One more source of the last leaf.
  constexpr void add_source(int source) { sources[size - 1][source_count[size - 1]++] = source; }
  // What is appended in between is computed again for its gradients. The outermost ones count.
  constexpr void begin_recomputed() { recomputations += depth++ == 0; }
  constexpr void end_recomputed() { --depth; }
  // A name may be saved again and then means the later value; that of an input stays.
  constexpr void save(TagId name, int value, bool input = false) {
    for (int i = 0; i < tags; ++i) {
      if (tag[i] != name) continue;
      if (input || is_input[i]) return note(TagMistake::input_twice, name);
      tagged[i] = value;
      return;
    }
    if (tags == max_tags) return note(TagMistake::too_many, name);
    tag[tags] = name;
    is_input[tags] = input;
    tagged[tags++] = value;
  }
  // The latest value saved under a name; -1: none.
  constexpr int find(TagId name) const {
    for (int i = 0; i < tags; ++i)
      if (tag[i] == name) return tagged[i];
    return -1;
  }
  // The same for a part that needs it.
  constexpr int read(TagId name) {
    for (int i = 0; i < tags; ++i)
      if (tag[i] == name) return find(name);
    note(TagMistake::unknown, name);
    return 0;
  }
  constexpr void mark_output(TagId name, int value) {
    for (int i = 0; i < outputs; ++i)
      if (output_tag[i] == name) return note(TagMistake::output_twice, name);
    if (outputs == max_outputs) return note(TagMistake::too_many, name);
    output_tag[outputs] = name;
    output[outputs++] = value < 0 ? 0 : value;
  }

 private:
  constexpr void note(TagMistake what, TagId name) {
    if (mistake != TagMistake::none) return;
    mistake = what;
    mistaken = name;
    mistaken_at = size;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
