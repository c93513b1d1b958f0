# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D PROGRAM=<faults> -D KERNEL=<name> -D SENTENCE=<regex> -P fault.cmake
#
# The wrong kernel of that name fails with the sentence; the right one passes and says nothing.

cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${PROGRAM}" ${KERNEL} wrong RESULT_VARIABLE result ERROR_VARIABLE said)
if(result EQUAL 0 OR NOT said MATCHES "${SENTENCE}")
  message(FATAL_ERROR "expected the wrong ${KERNEL} to fail with \"${SENTENCE}\"; it ended with ${result}: ${said}")
endif()
execute_process(COMMAND "${PROGRAM}" ${KERNEL} right RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result EQUAL 0 OR NOT said STREQUAL "")
  message(FATAL_ERROR "expected the right ${KERNEL} to pass; it ended with ${result}: ${said}")
endif()
