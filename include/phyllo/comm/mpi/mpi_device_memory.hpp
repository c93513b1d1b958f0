// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdlib>
#include <optional>
#include <string_view>

namespace phyllo::inline PHYLLO_ISA {

/// The value of an environment variable, if it is set: "0" is no, anything else yes.
inline std::optional<bool> switch_of_environment(char const* variable) {
  char const* const value = std::getenv(variable);
  if (value == nullptr) return {};
  return std::string_view(value) != "0";
}

/// Whether a list of memory kinds, such as "mpi,system,cuda:device", names a device's.
inline bool names_device_memory(std::string_view kinds) {
  return kinds.find("cuda") != kinds.npos || kinds.find("rocm") != kinds.npos ||
         kinds.find("level_zero") != kinds.npos;
}

/// Whether non-blocking collective calls accept GPU memory where blocking ones do.
///
/// source   Open MPI's documentation, "CUDA-aware MPI APIs": MPI_Iallreduce and the like do not
#if defined(OPEN_MPI)
inline constexpr bool starts_on_device_memory = false;
#else
inline constexpr bool starts_on_device_memory = true;
#endif

/// Whether this MPI reads and writes GPU memory. No call reports that in all libraries. The user
/// decides by PHYLLO_GPU_AWARE_MPI=1 or 0. If it is not set, the answer is yes if one of these says
/// yes, in this order: the memory kinds of the communicator (MPI 4.1); the queries of Open MPI and
/// MPICH; the variable that switches it on in Cray's MPICH. Their no is ignored: a library may omit
/// kinds that were not requested, and has queries for some devices only.
inline bool reads_device_memory(MPI_Comm communicator) {
  if (auto const user = switch_of_environment("PHYLLO_GPU_AWARE_MPI")) return *user;
#if MPI_VERSION >= 4
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_Comm_get_info(communicator, &info) == MPI_SUCCESS) {
    char kinds[1024] = {};
    int length = int(sizeof kinds), found = 0;
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, kinds, &found);
    MPI_Info_free(&info);
    if (found != 0 && names_device_memory(kinds)) return true;
  }
#else
  static_cast<void>(communicator);
#endif
#if defined(OMPI_HAVE_MPI_EXT_CUDA) && OMPI_HAVE_MPI_EXT_CUDA
  if (MPIX_Query_cuda_support() == 1) return true;
#endif
#if defined(OMPI_HAVE_MPI_EXT_ROCM) && OMPI_HAVE_MPI_EXT_ROCM
  if (MPIX_Query_rocm_support() == 1) return true;
#endif
#if defined(MPIX_GPU_SUPPORT_CUDA)
  for (int const kind : {MPIX_GPU_SUPPORT_CUDA, MPIX_GPU_SUPPORT_HIP, MPIX_GPU_SUPPORT_ZE}) {
    int supported = 0;
    if (MPIX_GPU_query_support(kind, &supported) == MPI_SUCCESS && supported != 0) return true;
  }
#endif
  return switch_of_environment("MPICH_GPU_SUPPORT_ENABLED").value_or(false);
}

}  // namespace phyllo::inline PHYLLO_ISA
