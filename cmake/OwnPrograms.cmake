# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by Phyllo's own tests, examples and performance programs; consumers do not use it.

if(NOT TARGET phyllo_own_programs)
  add_library(phyllo_own_programs INTERFACE)
  target_link_libraries(phyllo_own_programs INTERFACE phyllo::phyllo)
  target_compile_options(phyllo_own_programs INTERFACE
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang,IntelLLVM>:-Wall -Wextra -Wpedantic -Wshadow>)
endif()

option(PHYLLO_RECORD "Record the CPU time of compilers and tests for cmake/budgets" OFF)
if(PHYLLO_RECORD)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/record-cpu")
  set(CMAKE_CXX_LINKER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/record-cpu")
endif()

# The installed Kokkos with bounds-checked Views, which a macro of its headers enables.
# The override folder comes before Kokkos' own on the command line (see cmake/kokkos-headers).
option(PHYLLO_BOUNDS_CHECK "Check every View access of our own programs against its bounds" OFF)
if(PHYLLO_BOUNDS_CHECK)
  set(phyllo_bounds_dir "${PROJECT_BINARY_DIR}/kokkos-bounds")
  get_target_property(phyllo_kokkos_include Kokkos::kokkoscore INTERFACE_INCLUDE_DIRECTORIES)
  find_file(phyllo_kokkos_config KokkosCore_config.h
    PATHS ${phyllo_kokkos_include} NO_DEFAULT_PATH NO_CACHE REQUIRED)
  cmake_path(GET phyllo_kokkos_config PARENT_PATH phyllo_kokkos_include)
  execute_process(
    COMMAND "${PROJECT_SOURCE_DIR}/cmake/kokkos-headers" bounds "${phyllo_bounds_dir}" "${phyllo_kokkos_include}"
    COMMAND_ERROR_IS_FATAL ANY)
  target_include_directories(phyllo_own_programs BEFORE INTERFACE "${phyllo_bounds_dir}")
endif()

# Two cores may carry three ranks of one thread each: no binding, no spinning, room for all. All ranks are on one
# machine: without its component ofi, which looks for network devices, Open MPI starts in 0.7 instead of 1.7 s.
set(phyllo_mpi_environment
  OMP_NUM_THREADS=1 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive OMPI_MCA_btl=^ofi
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  # Open MPI patches the machine code of munmap, which AddressSanitizer has taken over; and only the
  # slow unwinder sees that a leak is Open MPI's (cmake/leaks-of-others.txt).
  list(APPEND phyllo_mpi_environment OMPI_MCA_memory=^patcher ASAN_OPTIONS=fast_unwind_on_malloc=0)
endif()
set(phyllo_mpi_flags "")
if(phyllo_mpi_available)
  execute_process(COMMAND "${MPIEXEC_EXECUTABLE}" --version
    OUTPUT_VARIABLE phyllo_mpiexec_version ERROR_VARIABLE phyllo_mpiexec_version)
  if(phyllo_mpiexec_version MATCHES "Open MPI|OpenRTE|PRRTE|prte")
    set(phyllo_mpi_flags --oversubscribe --bind-to none)
  endif()
endif()

# phyllo_mpi_command(<variable> <ranks> <program> [argument...]): the command line of a run
function(phyllo_mpi_command variable ranks program)
  set(${variable}
    "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${phyllo_mpi_flags}
    ${MPIEXEC_PREFLAGS} ${program} ${MPIEXEC_POSTFLAGS} ${ARGN} PARENT_SCOPE)
endfunction()

# phyllo_test_prefix(<variable> <row> <test> [UNCHANGED]): what comes before a test's command, so that its CPU
# time is recorded for the row of tests/budgets.tsv; see cmake/run-test, also for UNCHANGED
function(phyllo_test_prefix variable row test)
  set(prefix "")
  if(PHYLLO_RECORD)
    set(prefix "${PROJECT_SOURCE_DIR}/cmake/run-test")
    if("UNCHANGED" IN_LIST ARGN)
      list(APPEND prefix --unchanged)
    endif()
    list(APPEND prefix "${PROJECT_BINARY_DIR}/cpu/${row}/${test}")
  endif()
  set(${variable} ${prefix} PARENT_SCOPE)
endfunction()
