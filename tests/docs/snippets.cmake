# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -D PAGE=page.md -D PROGRAM=page.cpp -D COMMANDS=compile_commands.json -D PROBE=probe.cpp -P snippets.cmake
# Writes the ```cpp blocks of PAGE to PROGRAM and compiles it as PROBE is compiled.

cmake_minimum_required(VERSION 3.25)

file(READ "${PAGE}" text)
# Code under another name or indented would never be compiled.
if("\n${text}" MATCHES "\n([ \t]+```cpp|[ \t]*```(cpp[^\n]|[cC]\\+\\+|cxx|cc|hpp))")
  message(FATAL_ERROR "${PAGE} has code that would not be compiled. Write ```cpp at the beginning of a line, alone.")
endif()
set(program "")
while(text MATCHES "```cpp\n")
  string(FIND "${text}" "```cpp\n" begin)
  math(EXPR begin "${begin} + 7")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} block)
  string(APPEND program "${block}\n")
  math(EXPR end "${end} + 3")
  string(SUBSTRING "${text}" ${end} -1 text)
endwhile()
file(WRITE "${PROGRAM}" "${program}")

file(READ "${COMMANDS}" commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
set(command "")
foreach(i RANGE ${last})
  string(JSON file GET "${commands}" ${i} file)
  if(file STREQUAL PROBE)
    string(JSON command GET "${commands}" ${i} command)
    string(JSON folder GET "${commands}" ${i} directory)
  endif()
endforeach()
if(NOT command)
  message(FATAL_ERROR "${COMMANDS} does not say how ${PROBE} is compiled. Configure again.")
endif()
separate_arguments(command UNIX_COMMAND "${command}")
list(FIND command -o at)
list(REMOVE_AT command ${at})
list(REMOVE_AT command ${at})
list(REMOVE_ITEM command -c "${PROBE}")
execute_process(COMMAND ${command} -fsyntax-only "${PROGRAM}" WORKING_DIRECTORY "${folder}"
  RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The code of ${PAGE} does not compile:\n${errors}")
endif()
