# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: cmake -D GPU_TABLE=cmake/gpu-table -D WORK=<folder> -P gpu_table_self_test.cmake
#
# Remarks of both compilers about made-up kernels against made-up tables: names are read without the inline namespace
# of the library, and each complaint of gpu-table is made.

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

set(kernel_A "_ZN6phyllo8for_cuda4cuda8run_teamINS0_1AILi3EEEEEvT_")
set(kernel_B "_ZN6Kokkos4Impl6launchINS0_11ParallelForIN6phyllo8for_cuda1BIfEENS_4CudaEEEEEvT_")
set(kernel_C "_ZN6Kokkos4Impl6launchINS0_11ParallelForIN6phyllo1CENS_4CudaEEEEEvT_")
set(kernel_Own "_ZN6Kokkos4Impl6launchINS0_11ParallelForINS_4FillENS_4CudaEEEEEvT_")
set(heading "architecture\tregisters\tspills\tscratch_bytes\tmatrix_instructions\tkernel\n")

# compiled(<file> <kernel> <registers> <bytes of spills> <matrix instructions> ...)
function(compiled file)
  set(log "")
  set(matrix "")
  while(ARGN)
    list(POP_FRONT ARGN kernel registers spills instructions)
    string(APPEND log "ptxas info    : Compiling entry function '${kernel_${kernel}}' for 'sm_90'\n"
      "    0 bytes stack frame, ${spills} bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used ${registers} registers, used 0 barriers\n")
    string(APPEND matrix "${kernel_${kernel}} ${instructions}\n")
  endwhile()
  file(WRITE "${WORK}/${file}.log" "${log}")
  file(WRITE "${WORK}/${file}.matrix" "${matrix}")
endfunction()

# rows(<registers> <spills> <matrix instructions> <name> ...): the committed table
function(rows)
  set(text "${heading}")
  while(ARGN)
    list(POP_FRONT ARGN registers spills instructions name)
    string(APPEND text "sm_90\t${registers}\t${spills}\t0\t${instructions}\t${name}\n")
  endwhile()
  file(WRITE "${WORK}/reference.tsv" "${text}")
endfunction()

# verdict(<status> <sentence> [<option>...])
function(verdict status sentence)
  execute_process(COMMAND "${GPU_TABLE}" ${ARGN} cuda "${WORK}/reference.tsv" "${WORK}/table.tsv" "sm_90:${WORK}/one"
      "sm_90:${WORK}/two"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  string(FIND "${output}" "${sentence}" position)
  if(NOT result EQUAL status OR position EQUAL -1)
    message(FATAL_ERROR "expected status ${status} and \"${sentence}\", got ${result} and:\n${output}")
  endif()
endfunction()

# B is in both files and has its larger numbers; Kokkos' own kernel has no row.
compiled(one A 40 0 12 B 20 0 0 Own 99 8 0)
compiled(two B 24 0 0)
set(same 40 0 12 "A<3> " 24 0 0 B<float>)
rows(${same})
verdict(0 "2 kernels compile, none needs more" --all)

rows(36 0 12 "A<3> " 24 0 0 B<float>)
verdict(1 "sm_90: registers 36 -> 40, spills 0 -> 0, matrix instructions 12 -> 12: A<3> ")
rows(${same})
compiled(two B 24 4 0)
verdict(1 "spills 0 -> 4, matrix instructions 0 -> 0: B<float>")
compiled(two B 24 0 0)
rows(40 0 12 "A<3> " 24 0 1 B<float>)
verdict(1 "matrix instructions 1 -> 0: B<float>")

# A kernel without a row, by any number of them: all, as when names are read in another way.
rows(40 0 12 "A<3> ")
verdict(1 "1 of 2 kernels have no row in docs/figures/reference.tsv")
verdict(1 "sm_90: B<float>")
rows(40 0 12 "for_cuda::A<3> " 24 0 0 for_cuda::B<float>)
verdict(1 "2 of 2 kernels have no row")
rows()
verdict(1 "2 of 2 kernels have no row")
file(WRITE "${WORK}/reference.tsv" "")
verdict(1 "2 of 2 kernels have no row")

# Rows without a kernel: of some files they are those of other files; of all, one in ten may be gone.
rows(${same} 8 0 0 D)
verdict(0 "none needs more")
verdict(1 "1 of 3 rows of docs/figures/reference.tsv are of kernels that were not found" --all)
verdict(1 "sm_90: D" --all)

# A file in which no kernel is read.
compiled(two Own 99 8 0)
verdict(1 "no kernel of Phyllo was found in ${WORK}/two.log")
compiled(two B 24 0 0)

# --update keeps the rows of kernels of other files; of all files, none.
rows(40 0 12 "A<3> " 8 0 0 D)
verdict(0 "wrote docs/figures/reference.tsv" --update)
file(READ "${WORK}/reference.tsv" text)
if(NOT text STREQUAL "${heading}sm_90\t40\t0\t0\t12\tA<3> \nsm_90\t24\t0\t0\t0\tB<float>\nsm_90\t8\t0\t0\t0\tD\n")
  message(FATAL_ERROR "--update wrote:\n${text}")
endif()
verdict(0 "wrote" --all --update)
verdict(0 "none needs more" --all)
file(READ "${WORK}/reference.tsv" text)
if(text MATCHES "D")
  message(FATAL_ERROR "--all --update kept a row:\n${text}")
endif()

# A name without an inline namespace, and a table that is missing.
compiled(two C 12 0 0)
file(REMOVE "${WORK}/reference.tsv")
verdict(0 "there is no docs/figures/reference.tsv of this compiler" --all)
file(READ "${WORK}/table.tsv" text)
if(NOT text MATCHES "\tC\n")
  message(FATAL_ERROR "expected a row of C, got:\n${text}")
endif()

# The other vendor's remarks.
set(remark "[-Rpass-analysis=kernel-resource-usage]\n")
set(name "_ZN6phyllo7for_hip3hip8run_teamINS0_1AILi3EEEEEvT_")
file(WRITE "${WORK}/one.log" "a.hpp:1:1: remark: Function Name: ${name} ${remark}a.hpp:1:1: remark:     TotalSGPRs: 9 ${remark}"
  "a.hpp:1:1: remark:     VGPRs: 30 ${remark}a.hpp:1:1: remark:     AGPRs: 4 ${remark}"
  "a.hpp:1:1: remark:     ScratchSize [bytes/lane]: 16 ${remark}a.hpp:1:1: remark:     SGPRs Spill: 2 ${remark}"
  "a.hpp:1:1: remark:     VGPRs Spill: 1 ${remark}a.hpp:1:1: remark:     LDS Size [bytes/block]: 0 ${remark}")
file(WRITE "${WORK}/one.matrix" "${name} 7\n")
execute_process(COMMAND "${GPU_TABLE}" --all --update hip "${WORK}/reference.tsv" "${WORK}/table.tsv" "gfx90a:${WORK}/one"
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(READ "${WORK}/reference.tsv" text)
if(NOT text STREQUAL "${heading}gfx90a\t34\t3\t16\t7\tA<3> \n")
  message(FATAL_ERROR "the remarks of hipcc are read as:\n${text}")
endif()

file(REMOVE_RECURSE "${WORK}")
message(STATUS "gpu-table makes each of its complaints.")
