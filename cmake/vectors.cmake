# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# phyllo_report_vectors(<include directory of Phyllo>): prints, once a configuration, the vector
# instructions that CMAKE_CXX_FLAGS and Kokkos' options select, and what to pass for more. Options
# that a project adds to single targets are not seen. For GPU compilers there is nothing to print.

function(phyllo_report_vectors include_directory)
  get_property(reported GLOBAL PROPERTY phyllo_vectors_reported)
  if(reported OR phyllo_FIND_QUIETLY)
    return()
  endif()
  set_property(GLOBAL PROPERTY phyllo_vectors_reported TRUE)

  set(options "")
  foreach(target IN ITEMS Kokkos::kokkos Kokkos::kokkoscore)
    if(TARGET ${target})
      get_target_property(of_target ${target} INTERFACE_COMPILE_OPTIONS)
      string(REGEX MATCHALL "-m[a-z][^;:,<> ]*" found "${of_target}")
      list(APPEND options ${found})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES options)

  # Once for the same flags: the answer is a string in the object.
  set(key "${CMAKE_CXX_COMPILER};${CMAKE_CXX_FLAGS};${options}")
  if(NOT "${phyllo_vectors_of}" STREQUAL "${key}")
    set(work "${CMAKE_BINARY_DIR}/CMakeFiles/phyllo_vectors")
    # The macros of Phyllo need no others of Kokkos here.
    file(WRITE "${work}/Kokkos_Macros.hpp" "#define KOKKOS_VERSION 50000\n")
    file(WRITE "${work}/vectors.cpp"
      "#include <phyllo/core/macros.hpp>\n"
      "extern char const phyllo_vectors[];\n"
      "char const phyllo_vectors[] = \"phyllo_vectors=\" PHYLLO_TEXT(PHYLLO_VECTOR_BYTES) \",\" "
      "PHYLLO_TEXT(PHYLLO_ISA) \",\" PHYLLO_TEXT(PHYLLO_HAS_NARROW_VECTORS) \";\";\n")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    set(CMAKE_CXX_STANDARD 20)
    set(text "")
    try_compile(compiles "${work}/build" SOURCES "${work}/vectors.cpp"
      CMAKE_FLAGS "-DINCLUDE_DIRECTORIES:STRING=${work}$<SEMICOLON>${include_directory}"
      COMPILE_DEFINITIONS ${options} COPY_FILE "${work}/vectors.object" COPY_FILE_ERROR ignored)
    if(compiles AND EXISTS "${work}/vectors.object")
      file(STRINGS "${work}/vectors.object" text REGEX "phyllo_vectors=[0-9]+,")
      string(REGEX MATCH "phyllo_vectors=[0-9]+,[^;]*" text "${text}")
    endif()
    unset(compiles CACHE)
    set(phyllo_vectors "${text}" CACHE INTERNAL "Vector instructions of phyllo_vectors_of")
    set(phyllo_vectors_of "${key}" CACHE INTERNAL "Compiler and flags of phyllo_vectors")
  endif()

  if(NOT "${phyllo_vectors}" MATCHES "=([0-9]+),([A-Za-z0-9_]+),(true|false)" OR CMAKE_MATCH_1 EQUAL 0)
    return()
  endif()
  set(remedy "")
  if(CMAKE_MATCH_3 STREQUAL "true")
    set(remedy ". Most processors of this kind have 32 or more, and kernels run up to 5 times faster "
      "there: pass -DCMAKE_CXX_FLAGS=-march=native, or use a Kokkos built with -DKokkos_ARCH_NATIVE=ON")
  endif()
  message(STATUS "Phyllo: vectors of ${CMAKE_MATCH_1} bytes (${CMAKE_MATCH_2})" ${remedy})
endfunction()
