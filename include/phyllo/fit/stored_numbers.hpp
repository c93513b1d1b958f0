// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/io/tensor.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::detail {

template <class T> constexpr ElementType stored_type() {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return ElementType::u64;
  else if constexpr (std::is_same_v<T, double>)
    return ElementType::f64;
  else
    return ElementType::f32;
}

// Numbers as a tensor of a file, bit for bit.
template <class T>
void add_numbers(TensorFile& file, std::string const& name, std::vector<T> const& numbers) {
  StoredTensor tensor{name, stored_type<T>(), {std::int64_t(numbers.size())}, {}};
  tensor.bytes.resize(numbers.size() * sizeof(T));
  if (!numbers.empty()) std::memcpy(tensor.bytes.data(), numbers.data(), tensor.bytes.size());
  file.tensors.push_back(std::move(tensor));
}

// The tensor of this name, type and extents; else an Error.
inline StoredTensor const* required(TensorFile const& file, std::string const& name,
                                    ElementType type, std::vector<std::int64_t> const& shape,
                                    std::string const& who) {
  StoredTensor const* const tensor = file.find(name);
  std::string const expected = std::string(element_name(type)) + " " + shape_text(shape);
  if (tensor == nullptr || tensor->type != type || tensor->shape != shape)
    throw Error(who + ": expected a checkpoint with \"" + name + "\" of " + expected + ", got " +
                (tensor == nullptr
                     ? std::string("none")
                     : std::string(element_name(tensor->type)) + " " + shape_text(tensor->shape)) +
                ". Resume with the network, rule and precision that wrote it.");
  return tensor;
}

// count numbers of a tensor; a negative count: as many as there are.
template <class T>
std::vector<T> numbers_of(TensorFile const& file, std::string const& name, std::int64_t count,
                          std::string const& who) {
  if (count < 0)
    if (StoredTensor const* const tensor = file.find(name))
      if (tensor->shape.size() == 1) count = tensor->shape[0];
  StoredTensor const* const tensor =
      required(file, name, stored_type<T>(), {count < 0 ? 0 : count}, who);
  std::vector<T> numbers(tensor->bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
  return numbers;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
