// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Bytes of `count` items; the largest long where they are more than that.
///
/// numerics arguments from 0
constexpr long bytes_of(long count, long bytes_of_item) {
  constexpr long most = std::numeric_limits<long>::max();
  return bytes_of_item > 0 && count > most / bytes_of_item ? most : count * bytes_of_item;
}

/// "1.5 GiB"
inline std::string readable_bytes(long bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = double(bytes) / 1024;
  char const* unit = "KMGTPE";
  for (; value >= 1024 && unit[1] != '\0'; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %ciB", value, *unit);
  return text;
}

namespace detail {

template <class V>
[[noreturn]] void refuse_memory(std::string const& label, long bytes, std::string const& remedy) {
  std::string const sentence = label + ": expected room for " + readable_bytes(bytes) +
                               " in the memory space " + V::memory_space::name() + ", got none. " +
                               remedy;
  if (std::current_exception() == nullptr) throw Error(sentence);
  std::throw_with_nested(Error(sentence));  // Kokkos' own words, for whom they help
}

}  // namespace detail

/// Allocates all persistent memory of Phyllo.
///
/// shape    V of rank 1 with `size` elements, or of rank 0
/// options  Property: an instance, WithoutInitializing, as for view_alloc · remedy: a sentence,
///          what to do if there is no room
/// errors   no room in the memory space, or more bytes than a machine can count -> Error; nothing
///          has changed then
template <class V, class... Property>
V allocate(std::string const& label, long size, std::string const& remedy,
           Property const&... property) {
  static_assert(V::rank <= 1, "a flat array");
  long const bytes = bytes_of(size, long(sizeof(typename V::value_type)));
  // Kokkos adds a header, for which there has to be a number too.
  if (bytes > std::numeric_limits<long>::max() / 2) detail::refuse_memory<V>(label, bytes, remedy);
  auto const properties = Kokkos::view_alloc(label, property...);
  try {
    if constexpr (V::rank == 0)
      return V(properties);
    else
      return V(properties, std::size_t(size));
  } catch (std::bad_alloc const&) {
    detail::refuse_memory<V>(label, bytes, remedy);
  } catch (std::runtime_error const& error) {
    // Kokkos 4.6 has no type for it; others of its errors are not about memory.
    if (std::strstr(error.what(), "failed to allocate") == nullptr) throw;
    detail::refuse_memory<V>(label, bytes, remedy);
  }
}

}  // namespace phyllo::inline PHYLLO_ISA
