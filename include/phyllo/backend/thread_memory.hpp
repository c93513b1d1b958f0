// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/op/work_memory.hpp>

#include <cstdint>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace phyllo::inline PHYLLO_ISA {

/// Allocates the work memory of kernels. On a host no page is touched: each comes to the memory of
/// the thread that writes it first, and what no kernel uses takes no memory.
///
/// shape    (slices, slice_bytes); a slice of a large page or more begins at one, so that panels of
///          matrices are contiguous in the second-level cache, where the system has such pages
/// errors   run: no room in the memory space -> Error
template <class Space> class ThreadMemory {
 public:
  ThreadMemory() = default;
  ThreadMemory(Space const& exec, std::string const& label, int slices, long slice_bytes) {
    if (slice_bytes == 0 || slices == 0) return;
    long const alignment = slice_bytes >= large_page ? large_page
                           : slice_bytes >= page     ? page
                                                     : op::WorkMemory::line;
    long const stride = (slice_bytes + alignment - 1) / alignment * alignment;
    long const bytes = bytes_of(slices, stride);
    bytes_ =
        allocate<decltype(bytes_)>(label, bytes + alignment, "Use an instance with fewer threads.",
                                   exec, Kokkos::WithoutInitializing);
    auto const at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    auto const unit = std::uintptr_t(alignment);
    memory_ = {bytes_.data() + ((at + unit - 1) / unit * unit - at),
               int(stride / op::WorkMemory::line), slices};
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                             typename Space::memory_space>::accessible)
      if (alignment == large_page) madvise(memory_.first, std::size_t(bytes), MADV_HUGEPAGE);
#endif
  }

  op::WorkMemory const& memory() const { return memory_; }

 private:
  static constexpr long page = 4096, large_page = 2L << 20;
  Kokkos::View<std::byte*, Kokkos::LayoutRight, typename Space::memory_space> bytes_;
  op::WorkMemory memory_;
};

}  // namespace phyllo::inline PHYLLO_ISA
