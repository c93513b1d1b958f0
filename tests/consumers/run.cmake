# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D KIND=find_package|add_subdirectory|fetch_content|build_tree -D PHYLLO_SOURCE=...
#              -D PHYLLO_BINARY=... -D WORK=... -D WITH_MPI=... -D WITH_ONEDNN=...
#              -D GENERATOR=... -D COMPILER=... -D KOKKOS_DIR=... -P run.cmake
#
# Configures, builds and runs the outside project of that kind.

cmake_minimum_required(VERSION 3.25)

function(run title)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${title} failed:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(arguments
  -G "${GENERATOR}" -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "Kokkos_DIR=${KOKKOS_DIR}"
  -D "WITH_MPI=${WITH_MPI}" -D "WITH_ONEDNN=${WITH_ONEDNN}")

if(KIND STREQUAL "find_package")
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
elseif(KIND STREQUAL "build_tree")
  list(APPEND arguments -D "phyllo_DIR=${PHYLLO_BINARY}")
else()
  list(APPEND arguments -D "PHYLLO_SOURCE=${PHYLLO_SOURCE}")
endif()

run("configuring" "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${KIND}" -B "${WORK}/build" ${arguments})
run("building" "${CMAKE_COMMAND}" --build "${WORK}/build")
run("running" "${WORK}/build/consumer")
file(REMOVE_RECURSE "${WORK}")
