// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/type_name.hpp>
#include <phyllo/io/safetensors.hpp>
#include <phyllo/model/parameter_table.hpp>

#include <Kokkos_Core.hpp>

#include <cstring>
#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// The tensor of a file for an entry, with room for its elements. Where the entry is a part of it,
// the other parts belong to other layers.
inline StoredTensor& tensor_of(TensorFile& file, ParameterEntry const& entry,
                               std::string const& name, ElementType type) {
  std::size_t elements = 1;
  for (std::int64_t const extent : entry.shape) elements *= std::size_t(extent);
  if (elements != std::size_t(entry.size()))
    for (StoredTensor& tensor : file.tensors)
      if (tensor.name == name) return tensor;
  file.tensors.push_back({name, type, entry.shape, {}});
  file.tensors.back().bytes.resize(elements * element_size(type));
  return file.tensors.back();
}

}  // namespace detail

/// Parameters and buffers of a model as tensors with torch's names, extents and order.
///
/// numerics master parameters, unrounded: F32, or F64 for Full<double>
/// cost     one copy to the host; waits for the instance
template <class M> TensorFile to_tensors(typename M::space const& exec, M const& model) {
  using T = typename M::accumulate;
  auto const parameters = Kokkos::create_mirror_view(Kokkos::HostSpace{}, model.master());
  auto const buffers = Kokkos::create_mirror_view(Kokkos::HostSpace{}, model.buffers());
  Kokkos::deep_copy(exec, parameters, model.master());
  Kokkos::deep_copy(exec, buffers, model.buffers());
  exec.fence("phyllo: save");
  TensorFile file;
  file.metadata.emplace_back("format", "pt");
  file.metadata.emplace_back("phyllo.network", type_name<typename M::network>());
  for (ParameterEntry const& entry : parameter_table<typename M::network>()) {
    bool const wide = std::is_same_v<T, double> && !entry.is_buffer;
    ElementType const type = wide ? ElementType::f64 : ElementType::f32;
    std::byte* const bytes = detail::tensor_of(file, entry, entry.name, type).bytes.data();
    for (long i = 0; i < entry.size(); ++i) {
      auto const from = std::size_t(entry.arena_index(i));
      auto* const to = bytes + std::size_t(entry.first + i) * element_size(type);
      if (entry.is_buffer)
        std::memcpy(to, &buffers(from), sizeof(float));
      else
        std::memcpy(to, &parameters(from), sizeof(T));
    }
  }
  return file;
}

/// Writes a model's weights as safetensors. The file is replaced completely or not at all. With
/// several ranks one of them writes, after Trainer::synchronize on all.
///
/// threads  any; nothing writes the weights meanwhile, and one thread at a time writes a path
/// errors   run: a file that cannot be written -> Error; an existing file is unchanged
template <class M>
void save(typename M::space const& exec, M const& model, std::string const& path) {
  write_safetensors(path, to_tensors(exec, model));
}

}  // namespace phyllo::inline PHYLLO_ISA
