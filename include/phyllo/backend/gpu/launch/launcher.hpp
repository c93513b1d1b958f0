// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// How kernels of backend/gpu are launched on a device. Kokkos' team policies stop at about 40 KiB
/// of scratch memory and 512 bytes of functor; a kernel launched by itself has what the device has.
///
/// options  Runtime: cuda::Runtime, hip::Runtime: the runtime's calls, and their refusals
/// errors   launch: a device with too little scratch memory or too few registers for a block, one
///          that the program has no instructions for, and what else the runtime refuses -> Error
/// cost     on the host, the launch; the runtime's questions once for each kernel and device
template <class Runtime> struct Launcher {
  using space = typename Runtime::space;

  static int multiprocessors(space const& exec) { return Runtime::multiprocessors(exec); }

  /// At most `blocks` blocks, and no more than run at a time: each takes more than one tile then.
  template <class Kernel>
  static int launch(space const& exec, std::string const& label, Kernel const& kernel,
                    long blocks) {
    static_assert(sizeof(Kernel) <= 2048, "a kernel's arguments are read by all its threads");
    if (blocks <= 0) return 0;
    if (Runtime::scratch_bytes(exec) < Kernel::scratch_bytes)
      throw Error(label + ": the kernel requires " + std::to_string(Kernel::scratch_bytes) +
                  " bytes of scratch memory for a block, and " + Runtime::device(exec) + " has " +
                  std::to_string(Runtime::scratch_bytes(exec)) + ". " + remedy());
    int resident = 0;
    check<Kernel>(exec, label, Runtime::template prepare<Kernel>(exec, resident));
    if (resident < 1)
      throw Error(label + ": expected a block of " + block<Kernel>() +
                  " to fit on a multiprocessor of " + Runtime::device(exec) +
                  ", but it has registers or scratch memory for none. " + remedy());
    long const count = std::min(blocks, long(resident) * multiprocessors(exec));
    std::uint64_t id = 0;
    bool const profiles = Kokkos::Tools::profileLibraryLoaded();
    if (profiles)
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
    auto const status = Runtime::launch(exec, kernel, int(count));
    if (profiles) Kokkos::Tools::endParallelFor(id);
    check<Kernel>(exec, label, status);
    return int(count);
  }

 private:
  template <class Kernel> static std::string block() {
    return std::to_string(Kernel::threads) + " threads with " +
           std::to_string(Kernel::scratch_bytes) + " bytes of scratch memory";
  }
  // The kernels of portable take less of a device.
  static std::string remedy() {
    return "Configure Kokkos for the architecture of this device (-DKokkos_ARCH_...=ON), or "
           "leave " +
           std::string(Runtime::backend) +
           " out of the list of backends: Backends<PortableBackend>.";
  }
  template <class Kernel>
  static void check(space const& exec, std::string const& label, typename Runtime::Status status) {
    if (status == Runtime::success) return;
    std::string const words = std::string(" (") + Runtime::text(status) + ")";
    if (Runtime::lacks_instructions(status))
      throw Error(label + ": expected instructions for " + Runtime::device(exec) +
                  " in this program, got those of another architecture" + words +
                  ". Configure Kokkos for this device (-DKokkos_ARCH_...=ON) and compile again: no "
                  "kernel of this program runs on it, not even those of portable.");
    if (Runtime::lacks_room(status))
      throw Error(label + ": " + Runtime::device(exec) + " has no room for a block of " +
                  block<Kernel>() + words + ". " + remedy());
    throw Error(label + ": the device could not start this kernel" + words +
                ". An earlier kernel may be the cause: run again with " + Runtime::one_by_one +
                " in the environment to see which.");
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
