// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Memory of an execution space that is known only when it is asked for: policies are not
/// parametrized by it. It grows and never shrinks.
class Workspace {
 public:
  explicit Workspace(std::string label) : label_(std::move(label)) {}

  /// Room for `bytes`; what was there is dropped where it was smaller, and stays where there is no
  /// room for more -> Error. 64-byte aligned.
  template <class Space> void reserve(Space const& exec, long bytes) {
    if (bytes <= bytes_) return;
    using Memory = Kokkos::View<std::byte*, Kokkos::LayoutRight, typename Space::memory_space>;
    auto const memory = std::make_shared<Memory>(allocate<Memory>(
        label_, bytes, "This policy keeps copies of what it sends; AllReduce does not.", exec,
        Kokkos::WithoutInitializing));
    exec.fence("phyllo: a workspace for communication");
    memory_ = std::shared_ptr<std::byte>(memory, memory->data());
    bytes_ = bytes;
  }
  long bytes() const { return bytes_; }
  std::byte* data() const { return memory_.get(); }
  template <class T> T* numbers() const { return reinterpret_cast<T*>(memory_.get()); }

 private:
  std::string label_;
  std::shared_ptr<std::byte> memory_;
  long bytes_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
