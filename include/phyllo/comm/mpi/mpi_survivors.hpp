// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/mpi_error.hpp>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // Open MPI; MPICH has the same in mpi.h
#endif

#include <chrono>
#include <optional>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

// An MPI can tell that a rank has died by User Level Failure Mitigation (ULFM), chapter "Process
// Fault Tolerance" proposed for the MPI standard. Open MPI has to be started with it
// (`mpirun --with-ft ulfm --mca async_mpi_finalize 1`); otherwise the launcher ends the job, and
// without the second option MPI_Finalize may wait for the dead (open-mpi/ompi#11404).
#ifdef MPIX_ERR_PROC_FAILED
/// The dead ranks of a communicator for which an MPI function returned `code`, or nothing if the
/// code means something else. No rank can use the communicator any more: all ranks will get here.
inline std::optional<std::vector<int>> dead_ranks(int code, MPI_Comm communicator) {
  int error = MPI_SUCCESS;
  MPI_Error_class(code, &error);
  if (error != MPIX_ERR_PROC_FAILED && error != MPIX_ERR_PROC_FAILED_PENDING &&
      error != MPIX_ERR_REVOKED)
    return {};
  MPIX_Comm_revoke(communicator);
  MPI_Group dead = MPI_GROUP_EMPTY, all = MPI_GROUP_NULL;
  int count = 0;
  // A rank that was told by another one learns the name a little later.
  auto const begin = std::chrono::steady_clock::now();
  while (count == 0 && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500)) {
    if (dead != MPI_GROUP_EMPTY) MPI_Group_free(&dead);
    int there = 0;
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);  // lets MPI listen
    MPIX_Comm_failure_ack(communicator);
    MPIX_Comm_failure_get_acked(communicator, &dead);
    MPI_Group_size(dead, &count);
  }
  MPI_Comm_group(communicator, &all);
  std::vector<int> places;
  for (int k = 0; k < count; ++k) places.push_back(k);
  std::vector<int> ranks(places.size());
  MPI_Group_translate_ranks(dead, count, places.data(), all, ranks.data());
  if (dead != MPI_GROUP_EMPTY) MPI_Group_free(&dead);
  MPI_Group_free(&all);
  return ranks;
}

/// Returns a communicator of the ranks that are alive, in their order; all of them call it. The
/// caller frees it.
inline MPI_Comm survivors(MPI_Comm communicator) {
  MPI_Comm alive = MPI_COMM_NULL;
  check_mpi(MPIX_Comm_shrink(communicator, &alive), "MPIX_Comm_shrink", 0);
  return alive;
}
#else
inline std::optional<std::vector<int>> dead_ranks(int, MPI_Comm) { return {}; }

[[noreturn]] inline MPI_Comm survivors(MPI_Comm) {
  throw Error(
      "survivors: expected an MPI with User Level Failure Mitigation, got one without. End the "
      "job, "
      "or build with Open MPI 5 or later.");
}
#endif

}  // namespace phyllo::inline PHYLLO_ISA
