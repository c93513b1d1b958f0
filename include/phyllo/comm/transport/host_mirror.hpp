// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// Room on the host for what a device sends and receives, handed out from the front and all given
/// back at once. Pinned where there is a device, so that copies are asynchronous.
class HostMirror {
 public:
  static constexpr long alignment = 64;  // bytes; a cache line, and more than any number needs

  explicit HostMirror(std::string label) : label_(std::move(label)) {}

  /// Makes room for `bytes` in all. Only while nothing is handed out: what was there is dropped,
  /// but stays where there is no room for more -> Error.
  void reserve(long bytes) {
    if (bytes > long(memory_.size()))
      memory_ = allocate<Memory>(label_, bytes,
                                 "Where MPI reads the device's memory, GpuAwareMpi needs no copy.",
                                 Kokkos::WithoutInitializing);
  }
  bool has_room(long bytes) const { return used_ + rounded(bytes) <= long(memory_.size()); }
  /// The next `bytes`, for which there is room.
  std::byte* take(long bytes) {
    std::byte* const first = memory_.data() + used_;
    used_ += rounded(bytes);
    return first;
  }
  void give_back() { used_ = 0; }

  long used() const { return used_; }
  static constexpr long rounded(long bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

 private:
  using Memory = Kokkos::View<std::byte*, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace>;

  std::string label_;
  Memory memory_;
  long used_ = 0;  // bytes
};

}  // namespace phyllo::inline PHYLLO_ISA
