# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D COMMANDS=<compile_commands.json> -D PROBE=<file in it> -D FILE=<a mistake>.cpp
#              [-D PROBE_OF_ALL=<file in it>] -P check.cmake
#
# FILE is a mistake that must not compile. It begins with comments that state the expected output:
# `// expect: REGEX` for the line with `error:`, of which there is exactly one, and
# `// position: REGEX` for anywhere in the output, which has at most 15 lines. It is compiled by
# the command of PROBE, or first by that of PROBE_OF_ALL, which has all of Phyllo precompiled, and by the options of a line `// flags: OPTIONS` behind it.

cmake_minimum_required(VERSION 3.25)

set(longest 15)

file(STRINGS "${FILE}" first_lines LIMIT_COUNT 20 REGEX "^// (expect|position|flags): ")
set(expected "")
set(positions "")
set(flags "")
foreach(line IN LISTS first_lines)
  if(line MATCHES "^// expect: (.*)$")
    list(APPEND expected "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^// position: (.*)$")
    list(APPEND positions "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^// flags: (.*)$")
    separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_1}")
  endif()
endforeach()
if(expected STREQUAL "")
  message(FATAL_ERROR "${FILE} does not say what to expect: its first lines need // expect: REGEX")
endif()

# Compiles FILE by the command of the file in `probe`, and sets complaints, output, length and errors.
macro(compile_by probe)
  # A file of one line a key; CMake's JSON would read all of it for each entry.
  string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" end "${probe}")
  file(STRINGS "${COMMANDS}" entries REGEX "^ *\"command\": .* ${end}\",?$")
  list(LENGTH entries count)
  set(command "")
  if(count EQUAL 1)
    string(REGEX REPLACE ",$" "" entries "${entries}")
    string(JSON command GET "{${entries}}" command)
  endif()
  if(command STREQUAL "")
    message(FATAL_ERROR "${COMMANDS} does not say how ${probe} is compiled.")
  endif()

  separate_arguments(arguments UNIX_COMMAND "${command}")
  set(compile "")
  set(skip FALSE)
  foreach(argument IN LISTS arguments)
    if(skip)
      set(skip FALSE)
    elseif(argument STREQUAL "-o")
      set(skip TRUE)
    elseif(argument STREQUAL "-c")
      list(APPEND compile -fsyntax-only -fdiagnostics-color=never)
    elseif(argument STREQUAL "${probe}")
      list(APPEND compile ${flags} "${FILE}")
    elseif(NOT argument MATCHES "^-W")  # tests have warnings that are errors
      list(APPEND compile "${argument}")
    endif()
  endforeach()

  execute_process(COMMAND ${compile}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

  if(result EQUAL 0)
    message(FATAL_ERROR "${FILE} compiles, and it is a mistake.")
  endif()

  # Compilers print the inline namespace of the instruction set (PHYLLO_ISA), which no author wrote.
  string(REGEX REPLACE "phyllo::(amx|avx[0-9a-z_]*|sse2|sve|neon|baseline|for_[a-z]+)::" "phyllo::" output "${output}")
  string(REGEX REPLACE "\n+$" "" text "${output}")
  # What CMake's lists would trip over.
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "[" "(" text "${text}")
  string(REPLACE "]" ")" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  # A precompiled header adds the way through the files between, which a user does not see.
  if("${probe}" STREQUAL "${PROBE_OF_ALL}" AND NOT PROBE STREQUAL PROBE_OF_ALL)
    list(FILTER lines EXCLUDE REGEX "^(In file included from|  +from ).*[,:]$")
  endif()
  list(LENGTH lines length)
  set(errors ${lines})
  list(FILTER errors INCLUDE REGEX "error: ")
  list(LENGTH errors error_count)

  set(complaints "")
  if(NOT error_count EQUAL 1)
    list(APPEND complaints "exactly one error is wanted, and there are ${error_count}")
  endif()
  if(length GREATER longest)
    list(APPEND complaints "at most ${longest} lines are wanted, and there are ${length}")
  endif()
  foreach(regex IN LISTS expected)
    if(NOT errors MATCHES "${regex}")
      list(APPEND complaints "no error says: ${regex}")
    endif()
  endforeach()
  foreach(regex IN LISTS positions)
    if(NOT output MATCHES "${regex}")
      list(APPEND complaints "nothing names the position: ${regex}")
    endif()
  endforeach()
endmacro()

# What does not pass is compiled as a user does, and judged by that.
set(complaints "none yet")
if(PROBE_OF_ALL AND NOT flags)
  compile_by("${PROBE_OF_ALL}")
endif()
if(complaints)
  compile_by("${PROBE}")
endif()

if(complaints)
  list(JOIN complaints "\n  " complaints)
  message(NOTICE "${output}")
  message(FATAL_ERROR "${FILE}:\n  ${complaints}")
endif()
message(STATUS "refused in ${length} lines: ${errors}")
