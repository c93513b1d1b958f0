// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <istream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace perf {

/// One run of the model, read from lines `key value...` that perf/scaling writes.
class Scenario {
 public:
  explicit Scenario(std::istream& in) {
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string key;
      if (!(words >> key)) continue;
      std::string rest;
      std::getline(words >> std::ws, rest);
      value_[key] = rest;
    }
  }
  std::string text(std::string const& key) const {
    auto const found = value_.find(key);
    if (found == value_.end())
      throw std::runtime_error("the scenario has no line \"" + key + "\"; perf/scaling writes it");
    return found->second;
  }
  double number(std::string const& key) const { return std::stod(text(key)); }
  int count(std::string const& key) const { return std::stoi(text(key)); }
  std::vector<double> numbers(std::string const& key) const {
    std::istringstream words(text(key));
    std::vector<double> all;
    for (double x = 0; words >> x;) all.push_back(x);
    return all;
  }

 private:
  std::map<std::string, std::string> value_;
};

}  // namespace perf
