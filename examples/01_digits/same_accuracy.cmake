# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Trains, then evaluates the saved weights with the other program: the accuracies must be the same
# text and at least 97 %. Then draws the log, where matplotlib is there.

execute_process(COMMAND ${TRAIN} OUTPUT_VARIABLE trained COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${EVALUATE}" --data "${DATA}" --weights short.safetensors --at-least 0.97
  OUTPUT_VARIABLE evaluated COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "held-out accuracy ([0-9.]+)\n" unused "${evaluated}")
set(second "${CMAKE_MATCH_1}")
if(NOT second OR NOT trained MATCHES "\nheld-out accuracy ${second}\n")
  message(FATAL_ERROR "digits_train and digits_evaluate differ:\n${trained}\n${evaluated}")
endif()
if(PLOT)
  file(REMOVE short.png)
  execute_process(COMMAND ${PLOT} short.csv short.png RESULT_VARIABLE result ERROR_VARIABLE sentence)
  if(NOT sentence MATCHES "needs matplotlib" AND (NOT result EQUAL 0 OR NOT EXISTS short.png))
    message(FATAL_ERROR "perf/plot-log ended with ${result}: ${sentence}")
  endif()
endif()
