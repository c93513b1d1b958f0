// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi.hpp>
#include <phyllo/comm/mpi/mpi_device_memory.hpp>

#include <string>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// Sums two numbers of each rank in device memory, one of them by a non-blocking call, with an MPI
/// that claims to read it.
///
/// errors   a wrong sum -> Error
template <Transport T> void try_device_memory(T& transport) {
  using Space = Kokkos::DefaultExecutionSpace;
  Kokkos::View<double*, typename Space::memory_space> const numbers("phyllo: test of GpuAwareMpi",
                                                                    2);
  Space const exec;
  Kokkos::deep_copy(exec, numbers, double(transport.rank() + 1));
  transport.sum(exec, numbers.data(), 1);
  transport.begin(exec, numbers.data() + 1, 1);
  transport.finish(exec);
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), numbers);
  double const expected = double(transport.size()) * (transport.size() + 1) / 2;
  for (int k = 0; k < 2; ++k) {
    if (got(k) == expected) continue;
    throw Error("GpuAwareMpi on rank " + std::to_string(transport.rank()) +
                ": expected the ranks' numbers on the device to sum to " +
                std::to_string(expected) + ", got " + std::to_string(got(k)) +
                ". This MPI does not read the device's memory: use Mpi, or load another MPI.");
  }
}

/// An Mpi that passes device memory to MPI, if MpiOptions::device_memory or the MPI library states
/// that MPI can read it (reads_device_memory). Otherwise data are staged through the host, with one
/// warning on rank 0.
///
/// state    that of Mpi
/// threads  the thread that initialised MPI, and no other
/// errors   those of Mpi; at construction: a sum of one number of each rank in device memory is
///          wrong -> Error. A library that was selected by hand and cannot read the memory may end
///          the program there.
/// cost     no copy; the instance is fenced before data are passed to MPI; with Open MPI, whose
///          non-blocking sums do not accept device memory, buckets are summed by blocking calls
class GpuAwareMpi : public Mpi {
 public:
  static constexpr char const* name = "GpuAwareMpi";

  GpuAwareMpi(MPI_Comm communicator, MpiOptions const& options = {})
      : Mpi(communicator, with_device_memory(communicator, options)) {
    if (reads_device()) try_device_memory(*this);
  }

  GpuAwareMpi split(int color) const { return GpuAwareMpi(Mpi::split(color)); }

 private:
  explicit GpuAwareMpi(Mpi&& part) : Mpi(std::move(part)) {}

  static MpiOptions with_device_memory(MPI_Comm communicator, MpiOptions options) {
    options.device_memory =
        !options.staged && (options.device_memory || reads_device_memory(communicator));
    return options;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
