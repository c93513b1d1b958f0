# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D RUN_TEST=cmake/run-test -D WORK=<folder> -P run_test_self_test.cmake
#
# A test that passed is not repeated before its program changes; one that failed is, and so is any without --unchanged.

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(ENV{PHYLLO_SKIP_PASSED} 1)

# run(<expected output> <expected status> <argument of the program> [--unchanged])
function(run expected status argument)
  execute_process(COMMAND "${RUN_TEST}" ${ARGN} "${WORK}/row/test" sh "${WORK}/program" ${argument}
    OUTPUT_VARIABLE output RESULT_VARIABLE result)
  if(NOT output MATCHES "^${expected}" OR NOT result EQUAL status)
    message(FATAL_ERROR "expected \"${expected}\" and status ${status}, got \"${output}\" and status ${result}")
  endif()
endfunction()

file(WRITE "${WORK}/program" "echo ran; exit $1")
run("ran" 0 0 --unchanged)
run("run-test: unchanged since it passed" 0 0 --unchanged)
run("ran" 0 0)
file(WRITE "${WORK}/program" "echo ran; exit $1 # changed")
run("ran" 0 0 --unchanged)
run("ran" 3 3 --unchanged)
run("ran" 3 3 --unchanged)
if(NOT EXISTS "${WORK}/row/test")
  message(FATAL_ERROR "run-test has recorded no time.")
endif()
