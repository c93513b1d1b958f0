// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/model/parameter_table.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <string_view>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// The tensor of a network with that name in files; one that layers share has no single place.
template <class Net> ParameterEntry entry_of(std::string_view name, bool is_buffer) {
  std::string names;
  for (ParameterEntry const& entry : parameter_table<Net>()) {
    long elements = 1;
    for (std::int64_t const extent : entry.shape) elements *= long(extent);
    if (entry.is_buffer != is_buffer || elements != entry.size()) continue;
    if (entry.name == name) return entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  std::string const what = is_buffer ? "buffer" : "parameter";
  throw Error(what + "_view: expected the name of a " + what + " as files have it, got \"" +
              std::string(name) + "\". The network has " + (names.empty() ? "none" : names) + ".");
}

template <class T, class Space> auto view_of_entry(T const* arena, ParameterEntry const& entry) {
  using View = Kokkos::View<T const***, Kokkos::LayoutStride, Space, Kokkos::MemoryUnmanaged>;
  std::size_t const taps = std::size_t(entry.taps), channels = std::size_t(entry.channels),
                    outputs = std::size_t(entry.outputs);
  return View(arena + entry.offset,
              Kokkos::LayoutStride(outputs, 1, channels, outputs, taps, channels * outputs));
}

}  // namespace detail

/// A parameter tensor of a model by its name in files, to be read: parameter_view(model,
/// "0.weight").
///
/// shape    (outputs, channels, taps), taps in the order of the file; a vector is (size, 1, 1), and
///          so is the table of an Embedding, row after row; of
///          the storage type, which kernels read
/// state    refers to the model's memory, and sees what training writes; valid while the model
///          lives
/// errors   run: a name that the network does not have, or a tensor that several layers share ->
///          Error, with all names
template <class M> auto parameter_view(M const& model, std::string_view name) {
  return detail::view_of_entry<typename M::storage, typename M::memory_space>(
      model.parameters().data(), detail::entry_of<typename M::network>(name, false));
}
/// The same of a buffer, float: "1.running_mean".
template <class M> auto buffer_view(M const& model, std::string_view name) {
  return detail::view_of_entry<float, typename M::memory_space>(
      model.buffers().data(), detail::entry_of<typename M::network>(name, true));
}

}  // namespace phyllo::inline PHYLLO_ISA
