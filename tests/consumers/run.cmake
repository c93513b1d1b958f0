# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D KIND=find_package|pkg_config|add_subdirectory|fetch_content|build_tree -D PHYLLO_SOURCE=...
#              -D PHYLLO_BINARY=... -D WORK=... -D WITH_MPI=... -D WITH_ONEDNN=... -D WITH_HDF5=...
#              -D GENERATOR=... -D COMPILER=... -D KOKKOS_DIR=...
#              [-D FLAGS=...] -P run.cmake
#
# Configures, builds and runs the outside project of that kind.

cmake_minimum_required(VERSION 3.25)

function(run title)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${title} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(arguments
  -G "${GENERATOR}" -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "Kokkos_DIR=${KOKKOS_DIR}"
  -D "WITH_MPI=${WITH_MPI}" -D "WITH_ONEDNN=${WITH_ONEDNN}" -D "WITH_HDF5=${WITH_HDF5}")

if(KIND MATCHES "^(find_package|pkg_config)$")
  run("installing" "${CMAKE_COMMAND}" --install "${PHYLLO_BINARY}" --prefix "${WORK}/installed")
  # Moved, an install that remembers where it was would be found out.
  file(RENAME "${WORK}/installed" "${WORK}/moved")
  file(GLOB_RECURSE texts "${WORK}/moved/*.cmake" "${WORK}/moved/*.pc")
  foreach(file IN LISTS texts)
    file(READ "${file}" text)
    foreach(path IN ITEMS "${PHYLLO_SOURCE}" "${PHYLLO_BINARY}" "${WORK}/installed")
      string(FIND "${text}" "${path}" position)
      if(NOT position EQUAL -1)
        message(FATAL_ERROR "the install cannot be moved: ${file} names ${path}")
      endif()
    endforeach()
  endforeach()
  list(APPEND arguments -D "CMAKE_PREFIX_PATH=${WORK}/moved")
endif()

# The compiler with the flags of the .pc files, and nothing else of CMake's.
if(KIND STREQUAL "pkg_config")
  set(package phyllo)
  set(definitions "")
  if(WITH_MPI)
    set(package phyllo-mpi)
    set(definitions -DWITH_MPI)
  endif()
  if(WITH_HDF5)
    list(APPEND package phyllo-hdf5)
    list(APPEND definitions -DWITH_HDF5)
  endif()
  set(ENV{PKG_CONFIG_PATH} "${WORK}/moved/share/pkgconfig")
  find_program(pkg_config NAMES pkg-config pkgconf)
  if(pkg_config)
    execute_process(COMMAND "${pkg_config}" --cflags --libs ${package} OUTPUT_VARIABLE flags
      OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  elseif(COMMAND cmake_pkg_config)
    # CMake reads .pc files itself, one at a time, and does not know their folder.
    set(flags "")
    foreach(name IN ITEMS phyllo ${package})
      file(READ "${WORK}/moved/share/pkgconfig/${name}.pc" text)
      string(REPLACE "\${pcfiledir}" "${WORK}/moved/share/pkgconfig" text "${text}")
      file(WRITE "${WORK}/moved/share/pkgconfig/${name}.pc" "${text}")
      cmake_pkg_config(EXTRACT ${name} REQUIRED)
      list(APPEND flags ${CMAKE_PKG_CONFIG_CFLAGS} ${CMAKE_PKG_CONFIG_LIBS})
    endforeach()
    list(JOIN flags " " flags)
  else()
    message(STATUS "skipped: neither pkg-config nor a CMake that reads its files (3.31) is there.")
    file(REMOVE_RECURSE "${WORK}")
    return()
  endif()
  separate_arguments(flags UNIX_COMMAND "${flags}")
  separate_arguments(optimisation UNIX_COMMAND "${FLAGS}")
  run("compiling with ${flags}" "${COMPILER}" ${optimisation} ${definitions}
    "${CMAKE_CURRENT_LIST_DIR}/pkg_config/main.cpp" -o "${WORK}/consumer" ${flags})
  run("running" "${WORK}/consumer")
  file(REMOVE_RECURSE "${WORK}")
  return()
endif()

if(KIND STREQUAL "find_package")
  # as installed above
elseif(KIND STREQUAL "build_tree")
  list(APPEND arguments -D "phyllo_DIR=${PHYLLO_BINARY}")
else()
  list(APPEND arguments -D "PHYLLO_SOURCE=${PHYLLO_SOURCE}")
endif()

run("configuring" "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${KIND}" -B "${WORK}/build" ${arguments})
string(REGEX MATCHALL "-- Phyllo: vectors of [0-9]+ bytes [^\n]*" vectors "${output}")
list(LENGTH vectors count)
cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
if(processor MATCHES "^(x86_64|aarch64)$" AND NOT output MATCHES "[Cc]uda|CUDA|HIP" AND NOT count EQUAL 1)
  message(FATAL_ERROR "configuring printed the width of vectors ${count} times, not once:\n${output}")
endif()
run("building" "${CMAKE_COMMAND}" --build "${WORK}/build")
run("running" "${WORK}/build/consumer")
file(REMOVE_RECURSE "${WORK}")
