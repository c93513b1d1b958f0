// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/type_name.hpp>
#include <phyllo/in_kernel/in_kernel.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// A frozen copy of a model's parameters and buffers, for kernels that must not read the results of
/// later training. Copies of a Snapshot share the frozen arrays.
///
/// shape    parameters (arena_size) · buffers (buffer_size)
/// options  Net, Precision: the model's · Space: its execution space
/// state    two Views, allocated at construction; the copies are asynchronous on the instance
/// threads  any number: nothing changes after construction
/// errors   run: no room in memory -> Error
/// cost     one copy of the parameters in Precision::storage
template <class Net, class Precision, class Space> class Snapshot {
 public:
  using storage = typename Precision::storage;
  using memory_space = typename Space::memory_space;

  template <class ParameterView, class BufferView>
  Snapshot(Space const& exec, ParameterView const& parameters, BufferView const& buffers)
      : parameters_(
            copy<decltype(parameters_)>(exec, "/snapshot of parameters", parameters.extent(0))),
        buffers_(copy<decltype(buffers_)>(exec, "/snapshot of buffers", buffers.extent(0))) {
    Kokkos::deep_copy(exec, parameters_, parameters);
    Kokkos::deep_copy(exec, buffers_, buffers);
  }

  /// The closure for kernels on the instance of the copy; valid while a Snapshot lives.
  InKernel<Net, Precision> in_kernel() const& { return {parameters_.data(), buffers_.data()}; }
  template <class T = void> InKernel<Net, Precision> in_kernel() const&& {
    static_assert(
        !std::is_void_v<T>,
        "in_kernel: the Snapshot is a temporary, whose memory is released before a kernel "
        "runs. Keep it in a variable.");
    return {};
  }

 private:
  template <class V> static V copy(Space const& exec, char const* what, std::size_t size) {
    return allocate<V>(type_name<Net>() + what, long(size), "Let go of older snapshots.", exec,
                       Kokkos::WithoutInitializing);
  }

  Kokkos::View<storage*, memory_space> parameters_;
  Kokkos::View<float*, memory_space> buffers_;
};

}  // namespace phyllo::inline PHYLLO_ISA
