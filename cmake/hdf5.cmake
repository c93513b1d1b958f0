# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# phyllo_find_hdf5(<variable>): whether there is the C library of an HDF5 1.10 or newer, then as target
# phyllo::hdf5_library. CMake's FindHDF5 requires the language C, or a package that Autotools did not install.

function(phyllo_find_hdf5 variable)
  set(${variable} FALSE PARENT_SCOPE)
  if(TARGET phyllo::hdf5_library)
    set(${variable} TRUE PARENT_SCOPE)
    return()
  endif()
  # Modules and Spack set HDF5_ROOT or HDF5_DIR; Debian has several builds side by side.
  set(places HINTS "${HDF5_ROOT}" ENV HDF5_ROOT ENV HDF5_DIR PATH_SUFFIXES)
  find_path(PHYLLO_HDF5_INCLUDE_DIR hdf5.h ${places} include include/hdf5/serial hdf5/serial)
  find_library(PHYLLO_HDF5_LIBRARY NAMES hdf5 hdf5_serial ${places} lib lib64 hdf5/serial)
  mark_as_advanced(PHYLLO_HDF5_INCLUDE_DIR PHYLLO_HDF5_LIBRARY)
  if(NOT PHYLLO_HDF5_INCLUDE_DIR OR NOT PHYLLO_HDF5_LIBRARY)
    return()
  endif()
  file(STRINGS "${PHYLLO_HDF5_INCLUDE_DIR}/H5public.h" lines REGEX "define H5_VERS_(MAJOR|MINOR|RELEASE) +[0-9]+")
  list(TRANSFORM lines REPLACE ".*(MAJOR|MINOR|RELEASE) +([0-9]+).*" "\\2")
  list(JOIN lines "." version)
  set(parallel "")
  file(GLOB configurations "${PHYLLO_HDF5_INCLUDE_DIR}/H5pubconf*.h")  # one for each size of pointers in Fedora
  foreach(configuration IN LISTS configurations)
    file(STRINGS "${configuration}" line REGEX "define H5_HAVE_PARALLEL 1")
    string(APPEND parallel "${line}")
  endforeach()
  if(version VERSION_LESS 1.10 OR (parallel AND NOT TARGET MPI::MPI_CXX))
    return()  # headers of a parallel HDF5 include those of MPI
  endif()
  add_library(phyllo::hdf5_library INTERFACE IMPORTED GLOBAL)
  target_include_directories(phyllo::hdf5_library INTERFACE "${PHYLLO_HDF5_INCLUDE_DIR}")
  target_link_libraries(phyllo::hdf5_library INTERFACE "${PHYLLO_HDF5_LIBRARY}")
  if(parallel)
    target_link_libraries(phyllo::hdf5_library INTERFACE MPI::MPI_CXX)
  endif()
  message(STATUS "Phyllo: component hdf5 with HDF5 ${version} (${PHYLLO_HDF5_LIBRARY})")
  set(${variable} TRUE PARENT_SCOPE)
endfunction()
