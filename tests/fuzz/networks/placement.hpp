// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "network_check.hpp"

#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace networks {

/// Where the elements of a View (N, extents...) are. Strided: a subview of a larger one.
struct Placement {
  std::vector<std::size_t> extent, stride;
  std::size_t size = 0;  // of the memory

  Placement(int batch, std::vector<int> const& extents, Layout layout);
  /// Offset of the element with this row-major number.
  std::size_t offset(std::size_t number) const;
};

/// Memory of a View, with a pattern in all elements that are none of the View's. It begins at a
/// line of memory, as Kokkos allocates, so that kernels may take the View as it is; strided ones do
/// not.
template <class T> class Memory {
 public:
  Memory(int batch, std::vector<int> const& extents, Layout layout)
      : placement_(batch, extents, layout), elements_(placement_.size + 3 * margin, poison()) {
    auto const at = reinterpret_cast<std::uintptr_t>(elements_.data() + margin) % line;
    if (layout != Layout::strided) begin_ += (line - at) % line / sizeof(T);
  }

  Placement const& placement() const { return placement_; }
  T* data() { return elements_.data() + begin_; }
  void write(Numbers const& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) data()[placement_.offset(i)] = T(numbers[i]);
  }
  /// The View's elements; throws where something else was written.
  Numbers read(std::size_t count) {
    Numbers numbers(count);
    T const untouched = poison();
    std::vector<bool> own(elements_.size());
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t const at = begin_ + placement_.offset(i);
      numbers[i] = double(elements_[at]);
      own[at] = true;
    }
    for (std::size_t i = 0; i < elements_.size(); ++i)
      if (!own[i] && std::memcmp(&elements_[i], &untouched, sizeof(T)) != 0)
        throw std::runtime_error("memory outside of the caller's View was written");
    return numbers;
  }

 private:
  static constexpr std::size_t margin = 64, line = 64;  // elements, bytes
  static T poison() {
    if constexpr (std::is_integral_v<T>)
      return T(-77);
    else
      return T(std::numeric_limits<float>::quiet_NaN());
  }
  Placement placement_;
  std::vector<T> elements_;
  std::size_t begin_ = margin;
};

}  // namespace networks
