# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D WORK=<folder> -P house_self_test.cmake
#
# Feeds house.cmake one bad tree for each of its rules and requires the sentence of that rule.

cmake_minimum_required(VERSION 3.25)

set(spdx_owner "// SPDX-FileCopyrightText: 2026 The Phyllo authors\n")
set(spdx_licence "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n")
set(begin "${spdx_owner}${spdx_licence}#pragma once\n")
set(failures 0)

# A tree of one header, which house.cmake must refuse with `sentence`, or accept where it is "".
function(expect title name text sentence)
  file(REMOVE_RECURSE "${WORK}")
  file(WRITE "${WORK}/include/phyllo/${name}" "${text}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -D "ROOT=${WORK}" -P "${CMAKE_CURRENT_LIST_DIR}/house.cmake"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(sentence STREQUAL "")
    if(result EQUAL 0)
      return()
    endif()
    message(NOTICE "${title}: refused, and nothing is wrong with it:\n${output}")
  else()
    string(FIND "${output}" "${sentence}" position)
    if(NOT result EQUAL 0 AND NOT position EQUAL -1 AND output MATCHES "include/phyllo/${name}:[0-9]+: ")
      return()
    endif()
    message(NOTICE "${title}: expected \"${sentence}\" with file and line, and got (${result}):\n${output}")
  endif()
  math(EXPR failures "${failures} + 1")
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

expect("a good header" core/shape.hpp "${begin}#include <cstdint>\n#include <phyllo/core/role.hpp>\n" "")
expect("an arrow backwards" core/shape.hpp "${begin}#include <phyllo/layer/relu.hpp>\n"
  "the arrows of the house do not lead from layer to core")
expect("an arrow that skips its policy" network/network.hpp "${begin}#include <phyllo/comm/mpi.hpp>\n"
  "the arrows of the house do not lead from comm to network")
expect("a backend that sees a network" backend/portable/pooling.hpp
  "${begin}#include <phyllo/network/network.hpp>\n" "a backend never sees a network")
expect("a backend that names a layer" backend/portable/pooling.hpp
  "${begin}template <> struct Fast<op::Chain<ReLU>> {};\n" "a backend names no layer: ReLU")
expect("a backend whose comment names a layer" backend/portable/pooling.hpp
  "${begin}struct Fast {};  // ReLU by compare\n/// op::Chain<GELU>\n" "")
expect("a layer that sees a backend" layer/relu.hpp
  "${begin}#include <phyllo/backend/select.hpp>\n" "a layer never sees a backend")
expect("a kind named elsewhere" fusion/liveness.hpp
  "${begin}constexpr bool b = r == Role::contraction;\n" "a kind of op is named in kind/")
expect("a kind in its own file" kind/contraction.hpp "${begin}template <> struct Kind<Role::contraction>;\n" "")
expect("a role of a segment" fusion/plan.hpp "${begin}constexpr auto r = SegmentRole::dense;\n" "")
expect("a folder without arrows" helpers/all.hpp "${begin}" "the house has no folder helpers")
expect("quotes" core/shape.hpp "${begin}#include \"role.hpp\"\n" "in angle brackets")
expect("an expensive include" core/shape.hpp "${begin}#include <iostream>\n" "<iostream> is too expensive")
expect("MPI outside its component" policy/communication.hpp "${begin}#include <mpi.h>\n"
  "only comm/mpi* may include <mpi.h>")
expect("MPI in its component" comm/mpi/mpi_sums.hpp "${begin}#include <mpi.h>\n" "")
expect("another library" core/shape.hpp "${begin}#include <boost/any.hpp>\n" "neither Kokkos nor the standard library")
expect("the system's files" io/atomic_file.hpp "${begin}#include <fcntl.h>\n" "")
expect("the system's files elsewhere" core/shape.hpp "${begin}#include <fcntl.h>\n"
  "neither Kokkos nor the standard library")
expect("a vendor condition" layer/relu.hpp "${begin}#if defined(KOKKOS_ENABLE_CUDA)\n#endif\n"
  "a vendor is asked about in core/macros.hpp")
expect("a vendor condition in the portable backend" backend/portable/pooling.hpp
  "${begin}#ifdef __HIP_DEVICE_COMPILE__\n#endif\n" "a vendor is asked about in core/macros.hpp")
expect("a vendor condition in its place" core/macros.hpp "${begin}#if defined(__CUDA_ARCH__)\n#endif\n" "")
expect("a vendor condition in a vendor's folder" backend/cuda/pooling.hpp
  "${begin}#if defined(KOKKOS_ENABLE_CUDA)\n#endif\n" "")
expect("a lambda" model/forward.hpp "${begin}auto f = KOKKOS_LAMBDA(int) {};\n" "named functors at namespace scope")
expect("the world" comm/mpi.hpp "${begin}auto world = MPI_COMM_WORLD;\n" "never MPI_COMM_WORLD")
expect("a message" comm/mpi.hpp "${begin}void f() { std::fprintf(stderr, text); }\n" "a header writes to no stream")
expect("a number as text" comm/mpi/mpi_sums.hpp "${begin}void f() { std::snprintf(text, 8, form, number); }\n" "")
expect("a global fence" model/forward.hpp "${begin}void f() { Kokkos::fence(); }\n"
  "a guest does not fence the whole device")
expect("a namespace for all processors" core/shape.hpp "${begin}namespace phyllo {\n}\n"
  "objects compiled for different processors may share no function")
expect("the namespace of a processor" core/shape.hpp "${begin}namespace phyllo::inline PHYLLO_ISA {\n}\n" "")
expect("no guard" core/shape.hpp "${spdx_owner}${spdx_licence}" "#pragma once")
expect("no licence" core/shape.hpp "#pragma once\n" "two SPDX lines")
expect("half a licence" core/shape.hpp "${spdx_owner}#pragma once\n" "two SPDX lines")
string(REPEAT "//\n" 398 long)
expect("401 lines" core/shape.hpp "${begin}${long}" "at most 400 lines and this one has 401")
string(REPEAT "//\n" 397 long)
expect("400 lines" core/shape.hpp "${begin}${long}" "")
set(layer "struct ReLU { static constexpr char const* name = \"relu\"; };\n")
expect("a layer with its keys" layer/relu.hpp "${begin}/// shape any\n/// errors none\n/// source a paper\n${layer}" "")
foreach(key IN ITEMS shape errors source)
  set(docstring "/// shape any\n/// errors none\n/// source a paper\n")
  string(REPLACE "/// ${key}" "/// other" docstring "${docstring}")
  expect("a layer without ${key}" layer/relu.hpp "${begin}${docstring}${layer}" "\"${key}\" is missing")
endforeach()
expect("two layers with the keys of one" layer/relu.hpp
  "${begin}/// shape any\n/// errors none\n/// source a paper\n${layer}${layer}" "\"shape\" is missing")
expect("a class of users without threads" comm/lag.hpp "${begin}/// errors none\nclass Lag;\n" "has the key threads")
expect("a class of users with threads" comm/lag.hpp "${begin}/// threads one at a time\nclass Lag;\n" "")
expect("a class inside" comm/buckets.hpp "${begin}/// errors none\nclass Buckets;\n" "")

file(REMOVE_RECURSE "${WORK}")
if(failures)
  message(FATAL_ERROR "${failures} rules of house.cmake do not do what they say.")
endif()
message(STATUS "every rule of house.cmake can fail, and says so by file and line.")
