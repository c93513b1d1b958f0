# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D NM=<nm> -D BASELINE=<object> -D WIDE=<object> -D CROSSING=<object> -D FAST_MATH=<object>
#              -P separate.cmake
#
# Two objects compiled for different processors, or one of them with -ffast-math, define no function or variable of
# phyllo in common, where a linker would keep one of the two; and a model that crosses is an undefined symbol.

cmake_minimum_required(VERSION 3.25)

function(symbols variable object kinds)
  execute_process(COMMAND "${NM}" --demangle "${object}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "[" "(" text "${text}")
  string(REPLACE "]" ")" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  # Exceptions have one type for all, so that every caller can catch them.
  list(TRANSFORM lines REPLACE "phyllo::(Error|RankFailure)" "an exception")
  list(FILTER lines INCLUDE REGEX "^[0-9a-f ]* ${kinds} .*phyllo::")
  list(TRANSFORM lines REPLACE "^[0-9a-f ]* [A-Za-z] " "")
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

symbols(baseline "${BASELINE}" "[TWVuRDB]")
symbols(wide "${WIDE}" "[TWVuRDB]")
list(LENGTH baseline count)
if(count LESS 100)
  message(FATAL_ERROR "only ${count} symbols of phyllo in ${BASELINE}: the test does not see them.")
endif()
symbols(fast_math "${FAST_MATH}" "[TWVuRDB]")
list(FILTER fast_math EXCLUDE REGEX "^wide_outputs")
set(common "")
foreach(symbol IN LISTS baseline fast_math)
  if(symbol IN_LIST wide)
    list(APPEND common "${symbol}")
  endif()
endforeach()
if(common)
  list(JOIN common "\n  " common)
  message(FATAL_ERROR "Defined in two objects, so that one may run the instructions of the other:\n  ${common}")
endif()

symbols(called "${CROSSING}" "U")
list(FILTER called INCLUDE REGEX "^pass_to_baseline")
set(defined ${baseline})
list(FILTER defined INCLUDE REGEX "^pass_to_baseline")
if(called STREQUAL "" OR defined STREQUAL "" OR called STREQUAL defined)
  message(FATAL_ERROR "A model may cross: one object calls \"${called}\", the other defines \"${defined}\".")
endif()
message(STATUS "${count} symbols of phyllo, none in common; the linker would miss ${called}")
