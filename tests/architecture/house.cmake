# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D ROOT=<project> -P house.cmake
#
# Executes the rules of the house: who may include whom, and what no file may contain. Every
# violation is one line, file:line: what is wrong and what to do. house_self_test.cmake shows each
# rule failing.

cmake_minimum_required(VERSION 3.25)

# ---- the arrows: a folder and those that it may include -------------------------------------------
#
#   core -> policy -> op -> kind, loss, layer -> block -> network -> fusion -> in_kernel -> model -> train
#                     op -> backend -> model          comm is seen through policy only

set(arrows_core "")
set(arrows_policy core)
set(arrows_op core policy)
set(arrows_loss core policy op)
set(arrows_layer core policy op)
set(arrows_kind core policy op)
set(arrows_block core policy op loss layer)
set(arrows_network core policy op kind loss layer block)
set(arrows_backend core policy op)
set(arrows_fusion core policy op kind loss layer block network)
set(arrows_in_kernel core policy op kind loss layer block network fusion)
set(arrows_model core policy op kind loss layer block network fusion backend in_kernel)
set(arrows_train core policy op kind loss layer block network fusion backend in_kernel model)
set(arrows_comm core policy)
set(arrows_io core model)
set(arrows_data core io)
set(folders core policy op kind loss layer block network fusion backend in_kernel model train comm io data)

# The two files beside the folders.
set(arrows_fwd.hpp core policy)
set(arrows_phyllo.hpp ${folders})

# ---- what headers may not contain -------------------------------------------------------------------

# Included where it is not needed, each of these costs every translation unit of every user.
set(refused_includes iostream functional regex tuple)

set(violations "")
set(headers_seen 0)

function(refuse where sentence)
  list(APPEND violations "${where}: ${sentence}")
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

# Lines as a list; what CMake's lists would trip over is replaced, which no rule looks at.
function(read_lines file variable)
  file(READ "${file}" text)
  string(REPLACE "\\" "/" text "${text}")
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "[" "(" text "${text}")
  string(REPLACE "]" ")" text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

function(check_include where name line)
  if(line MATCHES "^ *# *include *\"")
    refuse("${where}" "a header is included as <phyllo/...>, in angle brackets, wherever it stands.")
  elseif(line MATCHES "^ *# *include *<phyllo/([a-z0-9_]+)(/|\\.hpp)")
    set(target "${CMAKE_MATCH_1}")
    string(REGEX REPLACE "/.*" "" folder "${name}")
    if(target STREQUAL folder AND NOT name STREQUAL "phyllo.hpp")
      # within a folder
    elseif(folder STREQUAL "backend" AND target MATCHES "^(kind|layer|block|network|fusion|in_kernel|model|train|loss)$")
      refuse("${where}" "a backend never sees a network: ${folder} includes ${target}. Pass what it needs in an op.")
    elseif(folder STREQUAL "layer" AND target STREQUAL "backend")
      refuse("${where}" "a layer never sees a backend: ${folder} includes ${target}. Describe the work by an op.")
    elseif(target STREQUAL "fwd")
      # names only
    elseif(NOT target IN_LIST arrows_${folder})
      string(REPLACE ";" ", " allowed "${arrows_${folder}}")
      refuse("${where}" "the arrows of the house do not lead from ${target} to ${folder}, which may include: ${allowed}.")
    endif()
  elseif(line MATCHES "^ *# *include *<([^>]+)>")
    set(target "${CMAKE_MATCH_1}")
    if(target IN_LIST refused_includes)
      refuse("${where}" "<${target}> is too expensive for a header that everybody includes.")
    elseif(target MATCHES "^mpi" AND NOT name MATCHES "^comm/mpi")
      refuse("${where}" "only comm/mpi* may include <${target}>: the core builds without MPI.")
    elseif(name STREQUAL "core/requirements.hpp")
      # Files that do not exist: their names are the sentences that end the compilation.
    elseif(name MATCHES "^io/" AND target MATCHES "^(fcntl|unistd|sys/stat)\\.h$")
      # A file that replaces another one in one step, safe on disk, takes more than <fstream>.
    elseif(target MATCHES "[/.]" AND NOT target MATCHES "^(Kokkos_|mpi)" AND NOT name MATCHES "^backend/")
      refuse("${where}" "<${target}> is neither Kokkos nor the standard library.")
    endif()
  endif()
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

function(check_header file name)
  read_lines("${file}" lines)
  list(LENGTH lines count)
  math(EXPR count "${count} - 1")
  if(count GREATER 400)
    refuse("${file}:401" "a header has at most 400 lines and this one has ${count}. Give one of its responsibilities a file.")
  endif()
  list(FIND lines "#pragma once" pragma)
  if(pragma EQUAL -1)
    refuse("${file}:1" "a header says #pragma once.")
  endif()
  set(vendor_allowed FALSE)
  if(name MATCHES "^(core/macros\\.hpp|backend/select\\.hpp)$" OR
     (name MATCHES "^backend/[a-z0-9_]+/" AND NOT name MATCHES "^backend/(portable|reference)/"))
    set(vendor_allowed TRUE)
  endif()
  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(NOT line MATCHES "[#KM]|^namespace|std(::|err)|Role::")
      continue()
    endif()
    set(where "${file}:${number}")
    if(line MATCHES "^ *# *include")
      check_include("${where}" "${name}" "${line}")
    endif()
    if(line MATCHES "^ *# *(if|ifdef|ifndef|elif).*(KOKKOS_ENABLE_(CUDA|HIP|OPENMP|SYCL|SERIAL|THREADS)|__CUDA|__NVCC__|__HIP|__AMDGCN__)"
       AND NOT vendor_allowed)
      refuse("${where}" "a vendor is asked about in core/macros.hpp, backend/select.hpp and backend/<vendor>/ only.")
    endif()
    if(line MATCHES "^namespace phyllo(::[a-z_]+)* ")
      if(NOT line MATCHES "^namespace phyllo::inline PHYLLO_ISA" AND NOT name MATCHES "^(fwd|core/error|core/warning|policy/rank_failure)\\.hpp$")
        refuse("${where}" "write namespace phyllo::inline PHYLLO_ISA: objects compiled for different processors may share no function.")
      endif()
    endif()
    if(line MATCHES "(^|[^A-Za-z])Role::" AND NOT name MATCHES "^(kind|layer)/|^(core/(role|refusal)|fusion/rules)\\.hpp$")
      refuse("${where}" "a kind of op is named in kind/, in layers and in fusion/rules.hpp only. Ask facts_of(node), or give KindFacts a member.")
    endif()
    if(line MATCHES "KOKKOS_(CLASS_)?LAMBDA")
      refuse("${where}" "kernels of the library are named functors at namespace scope, not lambdas (nvcc refuses seven kinds of them).")
    endif()
    if(line MATCHES "stderr|std::(f?printf|f?puts|f?putc|cerr|cout)" AND NOT name STREQUAL "core/warning.hpp")
      refuse("${where}" "a header writes to no stream: pass warn() of core/warning.hpp a sentence, which it sends to the caller's sink.")
    endif()
    if(line MATCHES "MPI_COMM_WORLD")
      refuse("${where}" "the caller's communicator is used, never MPI_COMM_WORLD.")
    endif()
    if(line MATCHES "Kokkos::fence *\\(")
      refuse("${where}" "a guest does not fence the whole device: exec.fence(\"label\") on the instance that was given.")
    endif()
  endforeach()
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

# A header of layer/ that gives a layer its name documents it by the fixed keys.
function(check_docstring file)
  file(READ "${file}" text)
  if(NOT text MATCHES "static constexpr char const\\* name")
    return()
  endif()
  foreach(key IN ITEMS shape errors source)
    if(NOT text MATCHES "\n */// ${key} ")
      refuse("${file}:1" "the docstring of a layer has the keys shape, errors and source; \"${key}\" is missing.")
    endif()
  endforeach()
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

# A class that a user makes says which threads may call it. Classes inside of these are called as they are.
set(classes_of_users "^(model/(model|inference_session)|in_kernel/(in_kernel|snapshot)|train/(trainer|reproducible_trainer|optimizer|\
memory_checkpoint|captured_step)|data/sampler|io/(load|save|safetensors)|comm/(mpi|gpu_aware_mpi|nccl_sums|all_reduce|\
tree_reduce|sharded|hierarchical|wire|lag|local_sgd|asynchronous|groups))\\.hpp$")
function(check_threads file name)
  if(NOT name MATCHES "${classes_of_users}")
    return()
  endif()
  file(READ "${file}" text)
  if(NOT text MATCHES "\n */// threads ")
    refuse("${file}:1" "the docstring of what users make or call has the key threads: who may call it at the same time.")
  endif()
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

function(check_licence file)
  file(READ "${file}" text LIMIT 400)
  if(NOT text MATCHES "SPDX-FileCopyrightText: [0-9]+ The Phyllo authors" OR
     NOT text MATCHES "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
    refuse("${file}:1" "every source file begins with the two SPDX lines (see CONTRIBUTING.md).")
  endif()
  set(violations "${violations}" PARENT_SCOPE)
endfunction()

# ---- the walk ---------------------------------------------------------------------------------------

file(GLOB_RECURSE headers RELATIVE "${ROOT}/include/phyllo" "${ROOT}/include/phyllo/*.hpp")
foreach(name IN LISTS headers)
  string(REGEX REPLACE "/.*" "" folder "${name}")
  if(NOT folder IN_LIST folders AND NOT name MATCHES "^(fwd|phyllo)\\.hpp$")
    refuse("${ROOT}/include/phyllo/${name}:1" "the house has no folder ${folder}; state its arrows in tests/architecture/house.cmake.")
    continue()
  endif()
  check_header("${ROOT}/include/phyllo/${name}" "${name}")
  check_threads("${ROOT}/include/phyllo/${name}" "${name}")
  if(folder STREQUAL "layer")
    check_docstring("${ROOT}/include/phyllo/${name}")
  endif()
  math(EXPR headers_seen "${headers_seen} + 1")
endforeach()

set(sources "${ROOT}/CMakeLists.txt" "${ROOT}/.ci/run")
foreach(folder IN ITEMS include tests examples perf cmake)
  file(GLOB_RECURSE found
    "${ROOT}/${folder}/*.hpp" "${ROOT}/${folder}/*.cpp" "${ROOT}/${folder}/*.cmake"
    "${ROOT}/${folder}/*.cmake.in" "${ROOT}/${folder}/*.py" "${ROOT}/${folder}/CMakeLists.txt")
  list(APPEND sources ${found})
endforeach()
# Scripts carry no extension.
file(GLOB scripts "${ROOT}/cmake/*")
list(FILTER scripts EXCLUDE REGEX "\\.[a-z]+$")
list(APPEND sources ${scripts})
foreach(file IN LISTS sources)
  if(EXISTS "${file}")
    check_licence("${file}")
  endif()
endforeach()

list(LENGTH violations count)
if(count)
  foreach(violation IN LISTS violations)
    string(REPLACE "${ROOT}/" "" violation "${violation}")
    message(NOTICE "${violation}")
  endforeach()
  message(FATAL_ERROR "${count} violations of the rules of the house.")
endif()
list(LENGTH sources source_count)
message(STATUS "${headers_seen} headers and ${source_count} source files keep the rules of the house.")
