// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/io/refuse_file.hpp>
#include <phyllo/io/tensor.hpp>
#include <phyllo/io/tensor_names.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Which tensors of a file are which of a model, and what need not match. Everything must match by
/// default.
///
/// options  a pattern is a name with one `*`, which matches any text: "encoder.*". The first pair
///          of `rename` that matches a name is applied; a `*` of its second name is the same text
struct LoadOptions {
  std::vector<std::pair<std::string, std::string>> rename = {};  // in the file -> in the model
  std::vector<std::string> skip = {};  // in the file, before they are renamed: not read
  bool allow_missing = false;          // tensors of the model that the file lacks stay as they are
  bool allow_surplus = false;          // tensors of the file that the model lacks are not read
};

/// What a load did, by names of the model; `surplus`: by names of the file.
struct LoadReport {
  std::vector<std::string> loaded, missing, surplus;
};

namespace detail {

// Whether a name matches a pattern, and the text that its star matches.
inline bool matches_pattern(std::string_view name, std::string_view pattern,
                            std::string_view& star) {
  auto const at = pattern.find('*');
  if (at == std::string_view::npos) return name == pattern;
  std::string_view const begin = pattern.substr(0, at), end = pattern.substr(at + 1);
  if (name.size() < begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end))
    return false;
  star = name.substr(begin.size(), name.size() - begin.size() - end.size());
  return true;
}

/// The tensors of a file under the names that a model has for them.
///
/// errors   run: a pattern that no name matches, two tensors with one name -> Error
class RenamedTensors {
 public:
  RenamedTensors(TensorFile const& file, LoadOptions const& options, std::string const& who) {
    std::vector<bool> used(options.rename.size()), skipped(options.skip.size());
    for (StoredTensor const& tensor : file.tensors) {
      std::string_view star;
      bool is_left_out = false;
      for (std::size_t k = 0; k < options.skip.size(); ++k)
        if (matches_pattern(tensor.name, options.skip[k], star)) skipped[k] = is_left_out = true;
      if (is_left_out) continue;
      std::string name = tensor.name;
      for (std::size_t k = 0; k < options.rename.size(); ++k) {
        if (!matches_pattern(tensor.name, options.rename[k].first, star)) continue;
        used[k] = true;
        name = options.rename[k].second;
        if (auto const at = name.find('*'); at != std::string::npos) name.replace(at, 1, star);
        break;
      }
      auto const [place, is_new] = by_name_.emplace(name, &tensor);
      if (!is_new)
        throw Error(who + ": expected one tensor for each name, got " +
                    listed({place->second->name, tensor.name}) + " for " + in_quotes(name) +
                    ". Change their names by LoadOptions::rename, or skip one of them.");
      tensors_.emplace_back(name, &tensor);
    }
    for (std::size_t k = 0; k < used.size(); ++k)
      if (!used[k]) refuse(file, "rename", options.rename[k].first, who);
    for (std::size_t k = 0; k < skipped.size(); ++k)
      if (!skipped[k]) refuse(file, "skip", options.skip[k], who);
  }

  /// The tensor that a name of the model means; nullptr: none.
  StoredTensor const* find(std::string const& name) const {
    auto const found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  /// Names of the model and tensors, in the order of the file.
  std::vector<std::pair<std::string, StoredTensor const*>> const& all() const { return tensors_; }

 private:
  [[noreturn]] static void refuse(TensorFile const& file, char const* what,
                                  std::string const& pattern, std::string const& who) {
    Names names;
    for (StoredTensor const& tensor : file.tensors) names.push_back(tensor.name);
    throw Error(who + ": expected a tensor that " + in_quotes(pattern) + " of LoadOptions::" +
                what + " matches, got none. The file has " + listed(names) + ".");
  }

  std::map<std::string, StoredTensor const*> by_name_;
  std::vector<std::pair<std::string, StoredTensor const*>> tensors_;
};

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
