// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/type_list.hpp>
#include <phyllo/core/type_name.hpp>
#include <phyllo/network/program.hpp>

#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The sparse matrices that the layers of a network name, in the order of their first layers.
template <class Net> struct Matrices {
  using program = typename Net::program;

  struct Table {
    int count = 0;
    TagId tag[program::size] = {};
    int of_leaf[program::size] = {};  // -1: the layer has none
    constexpr int find(TagId id) const {
      for (int k = 0; k < count; ++k)
        if (tag[k] == id) return k;
      return -1;
    }
  };
  static constexpr Table table = []<class... L>(TypeList<L...>) {
    Table t{};
    int leaf = 0;
    (
        [&] {
          t.of_leaf[leaf] = -1;
          if constexpr (requires { typename L::matrix; }) {
            constexpr TagId id = tag_id<typename L::matrix>;
            if (t.find(id) < 0) t.tag[t.count++] = id;
            t.of_leaf[leaf] = t.find(id);
          }
          ++leaf;
        }(),
        ...);
    return t;
  }(typename program::leaves{});

  static constexpr int count = table.count;
  template <class Tag> static constexpr int number_of = table.find(tag_id<Tag>);

  static std::vector<std::string> names() {
    std::vector<std::string> all(static_cast<std::size_t>(count));
    [&]<class... L>(TypeList<L...>) {
      (
          [&] {
            if constexpr (requires { typename L::matrix; })
              all[std::size_t(number_of<typename L::matrix>)] = type_name<typename L::matrix>();
          }(),
          ...);
    }(typename program::leaves{});
    return all;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
