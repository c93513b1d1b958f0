# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D COMMANDS=... -D PROBE=... -D WORK=<folder> -P check_self_test.cmake
#
# Shows that check.cmake can fail, for each reason that it has.

cmake_minimum_required(VERSION 3.25)

set(failures 0)

function(verdict title text sentence)
  set(file "${WORK}/mistake.cpp")
  file(WRITE "${file}" "${text}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -D "COMMANDS=${COMMANDS}" -D "PROBE=${PROBE}" -D "FILE=${file}"
      -P "${CMAKE_CURRENT_LIST_DIR}/check.cmake"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " flat "${output}")
  string(FIND "${flat}" "${sentence}" position)
  if((result EQUAL 0 AND NOT sentence MATCHES "^refused in") OR
     (NOT result EQUAL 0 AND sentence MATCHES "^refused in") OR position EQUAL -1)
    message(NOTICE "${title}: expected \"${sentence}\" and got (${result}):\n${output}")
    math(EXPR failures "${failures} + 1")
    set(failures "${failures}" PARENT_SCOPE)
  endif()
endfunction()

set(mistake "static_assert(false, \"the width is 3\");\n")
verdict("a mistake that is found" "// expect: the width is [0-9]+\n${mistake}" "refused in")
verdict("a file that compiles" "// expect: the width is 3\nint i = 0;\n" "compiles, and it is a mistake")
verdict("no expectation" "${mistake}" "does not say what to expect")
verdict("another sentence" "// expect: the height is 3\n${mistake}" "no error says: the height is 3")
verdict("no position" "// expect: the width\n// position: Layer<2>\n${mistake}" "nothing names the position: Layer<2>")
verdict("two errors" "// expect: the width\n${mistake}${mistake}" "exactly one error is wanted, and there are 2")
set(text "// expect: the width\ntemplate <int I> struct Deep : Deep<I - 1> {};\n")
string(APPEND text "template <> struct Deep<0> { static_assert(sizeof(int) == 1, \"the width is 3\"); };\n")
string(REPEAT "#warning long\n" 20 long)
verdict("too many lines" "${text}${long}Deep<5> deep;\n" "at most 15 lines are wanted")

file(REMOVE_RECURSE "${WORK}")
if(failures)
  message(FATAL_ERROR "${failures} verdicts of check.cmake are wrong.")
endif()
message(STATUS "check.cmake can fail for each of its reasons.")
