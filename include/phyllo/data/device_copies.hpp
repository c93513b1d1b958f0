// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA {

/// Batches on a device: two buffers, so that one is filled while kernels read the other.
///
/// options  exec: the instance of these kernels · copies: another instance, for the copies
/// threads  one thread at a time
/// errors   run: no memory for both -> Error
/// cost     one copy of each batch
template <class Space> class DeviceCopies {
 public:
  DeviceCopies(Space const& exec, Space const& copies, long bytes, char const* remedy)
      : exec_(exec), copies_(copies), bytes_(bytes) {
    for (Bytes& buffer : buffer_)
      buffer = allocate<Bytes>("phyllo: batch", bytes, remedy, Kokkos::WithoutInitializing);
  }

  /// Begins to copy a batch into the buffer that the last finish() did not return, after all that
  /// was launched on exec. `from` has to stay as it is until the next finish().
  void begin(std::byte const* from) {
    using From = Kokkos::View<std::byte const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    exec_.fence("phyllo: batches");
    Kokkos::deep_copy(copies_, buffer_[1 - now_], From(from, std::size_t(bytes_)));
    is_under_way_ = true;
  }
  /// Waits for the copy. The buffer stays as it is until the second begin() from here.
  std::byte* finish() {
    copies_.fence("phyllo: batches");
    is_under_way_ = false;
    now_ = 1 - now_;
    return buffer_[now_].data();
  }
  /// Drops the copy that is under way.
  void drop() {
    if (is_under_way_) copies_.fence("phyllo: batches");
    is_under_way_ = false;
  }

 private:
  using Bytes = Kokkos::View<std::byte*, typename Space::memory_space>;

  Space exec_, copies_;
  Bytes buffer_[2];
  long bytes_;
  int now_ = 0;
  bool is_under_way_ = false;
};

}  // namespace phyllo::inline PHYLLO_ISA
