// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>

#include <mpi.h>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// What an MPI function returned, as an Error unless it succeeded.
inline void check_mpi(int code, char const* operation, int rank) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error("Mpi on rank " + std::to_string(rank) + ": expected " + operation +
              " to succeed, got \"" + std::string(text, std::size_t(length)) +
              "\". Every rank of the communicator must be alive and make the same calls.");
}

/// Between MPI_Init and MPI_Finalize.
inline bool mpi_runs() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace phyllo::inline PHYLLO_ISA
