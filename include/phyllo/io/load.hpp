// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/finite.hpp>
#include <phyllo/core/fp16.hpp>
#include <phyllo/core/number_text.hpp>
#include <phyllo/io/load_options.hpp>
#include <phyllo/io/safetensors.hpp>
#include <phyllo/io/tensor_names.hpp>
#include <phyllo/model/parameter_table.hpp>

#include <Kokkos_Core.hpp>

#include <cstring>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// Element i of a tensor of a floating type, as a double.
inline double stored_value(StoredTensor const& tensor, long i) {
  auto const* const from = tensor.bytes.data() + std::size_t(i) * element_size(tensor.type);
  auto const read = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof(T));
    return double(value);
  };
  switch (tensor.type) {
    case ElementType::f64:
      return read(double{});
    case ElementType::f32:
      return read(float{});
    case ElementType::bf16:
      return read(bf16{});
    default:
      return read(fp16{});
  }
}

inline bool is_floating(ElementType type) {
  return type == ElementType::f64 || type == ElementType::f32 || type == ElementType::bf16 ||
         type == ElementType::f16;
}

}  // namespace detail

namespace detail {

// Names of a file that a network does not have, after they were renamed. torch counts batches
// beside running statistics; nothing here depends on the count.
template <class Table> Names surplus_names(Table const& table, RenamedTensors const& tensors) {
  Names surplus;
  for (auto const& [name, tensor] : tensors.all()) {
    bool known =
        name.ends_with("num_batches_tracked") || tensor->name.ends_with("num_batches_tracked");
    for (auto const& entry : table) known = known || entry.name == name;
    if (!known) surplus.push_back(name);
  }
  return surplus;
}

// What is in the file instead of a tensor that it should have.
inline std::string instead_of(std::string_view missing, Names const& surplus,
                              TensorFile const& file) {
  if (file.tensors.empty()) return " The file has no tensors.";
  Names names;
  for (StoredTensor const& tensor : file.tensors) names.push_back(tensor.name);
  std::string_view const nearest = nearest_name(missing, surplus);
  return (nearest.empty() ? "" : " The nearest name is " + in_quotes(nearest) + ".") +
         " The file has " + listed(names) + ".";
}

// Whether a tensor of a file is one of a network; else an Error.
inline void check_tensor(StoredTensor const& tensor, ParameterEntry const& entry,
                         std::string const& network, std::string const& who) {
  auto const text = [](std::vector<std::int64_t> const& shape) {
    std::string s = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
      s += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return s + ")";
  };
  std::string const name =
      who + ": tensor \"" + entry.name + "\" of network " + network +
      (tensor.name == entry.name ? "" : ", " + in_quotes(tensor.name) + " of the file") + ": ";
  if (tensor.shape != entry.shape)
    throw Error(name + "expected extents " + text(entry.shape) + ", got " + text(tensor.shape) +
                ". Load weights that were saved from this network, or skip the tensor and allow "
                "missing ones.");
  if (!is_floating(tensor.type))
    throw Error(name + "expected F64, F32, BF16 or F16, got " +
                std::string(element_name(tensor.type)) + ".");
}

}  // namespace detail

/// Sets parameters and buffers from tensors with torch's names. Changes nothing unless all fit.
/// Returns what it has set.
///
/// errors   run: a tensor that is missing, has other extents or no floating type, or that the
///          network does not have, unless LoadOptions allow it; no tensor at all; a finite number
///          that the model's type makes infinite -> Error; the model is unchanged
/// numerics converts F64, F32, BF16 and F16 to the model's types
template <class M>
LoadReport from_tensors(typename M::space const& exec, M& model, TensorFile const& file,
                        std::string const& who, LoadOptions const& options = {}) {
  auto const table = parameter_table<typename M::network>();
  std::string const network = model.name();
  detail::RenamedTensors const tensors(file, options, who);
  detail::Names const surplus = detail::surplus_names(table, tensors);
  LoadReport report;
  auto const add = [](std::vector<std::string>& names, std::string const& name) {
    if (names.empty() || names.back() != name) names.push_back(name);  // parts of one tensor
  };
  for (ParameterEntry const& entry : table) {
    StoredTensor const* const tensor = tensors.find(entry.name);
    if (tensor != nullptr) {
      detail::check_tensor(*tensor, entry, network, who);
      add(report.loaded, entry.name);
    } else if (options.allow_missing) {
      add(report.missing, entry.name);
    } else {
      throw Error(who + ": expected a tensor \"" + entry.name + "\" of network " + network +
                  ", got none." + detail::instead_of(entry.name, surplus, file) +
                  " Load weights that were saved from this network, or set LoadOptions::rename or "
                  "allow_missing.");
    }
  }
  for (std::string_view const name : surplus)
    report.surplus.push_back(tensors.find(std::string(name))->name);
  if (!surplus.empty() && !options.allow_surplus)
    throw Error(who + ": expected only tensors of network " + network + ", got " +
                detail::listed({report.surplus.begin(), report.surplus.end()}) +
                " as well. Load weights that were saved from this network, or set "
                "LoadOptions::skip or allow_surplus.");
  if (report.loaded.empty() && !table.empty())
    throw Error(who + ": expected at least one tensor of network " + network + ", got none." +
                detail::instead_of(table.front().name, surplus, file) +
                " Set LoadOptions::rename.");
  auto const master = Kokkos::create_mirror(Kokkos::HostSpace{}, model.master());
  auto const parameters = Kokkos::create_mirror(Kokkos::HostSpace{}, model.parameters());
  auto const buffers = Kokkos::create_mirror(Kokkos::HostSpace{}, model.buffers());
  Kokkos::deep_copy(exec, master, model.master());
  Kokkos::deep_copy(exec, parameters, model.parameters());
  Kokkos::deep_copy(exec, buffers, model.buffers());
  exec.fence("phyllo: load");
  for (ParameterEntry const& entry : table) {
    StoredTensor const* const tensor = tensors.find(entry.name);
    if (tensor == nullptr) continue;
    for (long i = 0; i < entry.size(); ++i) {
      double const value = detail::stored_value(*tensor, entry.first + i);
      auto const to = std::size_t(entry.arena_index(i));
      double taken = 0;
      if (entry.is_buffer) {
        buffers(to) = float(value);
        taken = double(buffers(to));
      } else {
        master(to) = typename M::accumulate(value);
        parameters(to) = typename M::storage(master(to));
        taken = double(parameters(to));
      }
      if (is_finite(value) && !is_finite(taken))
        throw Error(
            who + ": expected numbers of \"" + entry.name + "\" within the range of " +
            std::string(element_name(entry.is_buffer
                                         ? ElementType::f32
                                         : detail::element_type_of<typename M::storage>())) +
            ", got " + detail::number_text(value) + ". Load it into a model of a wider precision.");
    }
  }
  Kokkos::deep_copy(exec, model.master(), master);
  Kokkos::deep_copy(exec, model.parameters(), parameters);
  Kokkos::deep_copy(exec, model.buffers(), buffers);
  exec.fence("phyllo: load");
  model.weights_changed(exec);
  return report;
}

/// Reads a model's weights from a safetensors file: all of them, or with LoadOptions a part, under
/// other names. Returns what it has set.
///
/// threads  any; no other thread calls the model meanwhile
/// errors   run: a file that is missing, damaged or of another network -> Error; the model is
///          unchanged
template <class M>
LoadReport load(typename M::space const& exec, M& model, std::string const& path,
                LoadOptions const& options = {}) {
  return from_tensors(exec, model, read_safetensors(path), path, options);
}

}  // namespace phyllo::inline PHYLLO_ISA
