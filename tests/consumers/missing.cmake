# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D PHYLLO_SOURCE=... -D WORK=... -D GENERATOR=... -D COMPILER=... -P missing.cmake
#
# Configures Phyllo where a library or a device is missing, with a package that only says for which
# devices a Kokkos would be built: a component that is required is refused by a sentence, another one
# is left out with a sentence.

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")

# configure(<devices of Kokkos> <passes|fails> <sentence> <options>...)
function(configure devices expected sentence)
  file(WRITE "${WORK}/kokkos/KokkosConfig.cmake"
    "set(Kokkos_DEVICES ${devices})\nadd_library(Kokkos::kokkos INTERFACE IMPORTED)\n")
  file(WRITE "${WORK}/kokkos/KokkosConfigVersion.cmake"
    "set(PACKAGE_VERSION 5.0.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
  file(REMOVE_RECURSE "${WORK}/build")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${PHYLLO_SOURCE}" -B "${WORK}/build" -G "${GENERATOR}"
      -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "Kokkos_DIR=${WORK}/kokkos" -D PHYLLO_ENABLE_TESTS=OFF
      -D PHYLLO_ENABLE_EXAMPLES=OFF -D PHYLLO_ENABLE_PERF=OFF
      -D CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -D CMAKE_DISABLE_FIND_PACKAGE_hipblaslt=ON
      -D CMAKE_DISABLE_FIND_PACKAGE_MPI=ON -D CMAKE_DISABLE_FIND_PACKAGE_dnnl=ON ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  # CMake breaks the lines of its messages anywhere.
  string(REGEX REPLACE "[ \n]+" " " text "${output}")
  string(FIND "${text}" "${sentence}" position)
  set(outcome fails)
  if(result EQUAL 0)
    set(outcome passes)
  endif()
  if(position EQUAL -1 OR NOT outcome STREQUAL expected)
    message(FATAL_ERROR "Kokkos for ${devices}, ${ARGN}: expected that it ${expected} and says\n"
      "  ${sentence}\nit ${outcome} and says\n${output}")
  endif()
endfunction()

configure("OPENMP;SERIAL" fails
  "Component phyllo::cublaslt requires a Kokkos for CUDA; this one was built for OPENMP;SERIAL. Set another one with -DKokkos_ROOT=<its install prefix>, or set PHYLLO_ENABLE_CUBLASLT=OFF."
  -D PHYLLO_ENABLE_CUBLASLT=ON)
configure("CUDA;SERIAL" fails
  "Component phyllo::hipblaslt requires a Kokkos for HIP; this one was built for CUDA;SERIAL. Set another one with -DKokkos_ROOT=<its install prefix>, or set PHYLLO_ENABLE_HIPBLASLT=OFF."
  -D PHYLLO_ENABLE_HIPBLASLT=ON)
configure("CUDA;SERIAL" fails
  "Component phyllo::cublaslt requires cuBLASLt, and none was found. Add it to CMAKE_PREFIX_PATH, or set PHYLLO_ENABLE_CUBLASLT=OFF: Phyllo's own kernels then compute wide layers."
  -D PHYLLO_ENABLE_CUBLASLT=ON)
configure("OPENMP;SERIAL" fails
  "Component phyllo::wgmma requires a Kokkos for CUDA with Kokkos_ARCH_HOPPER90; this one was built for OPENMP;SERIAL"
  -D PHYLLO_ENABLE_WGMMA=ON)
# An HDF5 that is too old.
file(WRITE "${WORK}/hdf5/H5public.h"
  "#define H5_VERS_MAJOR 1 /* major */\n#define H5_VERS_MINOR 8\n#define H5_VERS_RELEASE 20\n")
file(WRITE "${WORK}/hdf5/H5pubconf.h" "/* #undef H5_HAVE_PARALLEL */\n")
set(old_hdf5 -D "PHYLLO_HDF5_INCLUDE_DIR=${WORK}/hdf5" -D "PHYLLO_HDF5_LIBRARY=${WORK}/hdf5/libhdf5.so")
configure("OPENMP;SERIAL" fails
  "Component phyllo::hdf5 requires the C library of HDF5 1.10 or newer, and MPI where that HDF5 was built with MPI; none was found. Set its place with -DHDF5_ROOT=<its install prefix>, or set PHYLLO_ENABLE_HDF5=OFF."
  -D PHYLLO_ENABLE_HDF5=ON ${old_hdf5})
configure("OPENMP;SERIAL" passes
  "Phyllo: no HDF5 1.10 or newer found, so component hdf5 and its tests are left out." ${old_hdf5})
configure("CUDA;SERIAL" passes
  "Phyllo: no cuBLASLt found, so component cublaslt is left out and Phyllo's own kernels compute wide layers. Add it to CMAKE_PREFIX_PATH and configure again, or set PHYLLO_ENABLE_CUBLASLT=OFF.")
configure("OPENMP;SERIAL" passes
  "Phyllo: no MPI found, so component mpi, its tests and the examples on several ranks are left out.")
configure("OPENMP;SERIAL" fails
  "was built for OPENMP;SERIAL, and CUDA is required. Set another one with -DKokkos_ROOT=<its install prefix>."
  -D PHYLLO_REQUIRE_DEVICE=CUDA)
file(REMOVE_RECURSE "${WORK}")
message(STATUS "Each missing library or device is reported.")
