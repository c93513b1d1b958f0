#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One GPU of an LSF machine with jsrun, such as Summit. From the project's folder, with digits_train
# built by preset cuda:
#   bsub -P <project> examples/jobs/lsf_one_gpu.sh build/cuda/examples/01_digits/digits_train
#BSUB -J phyllo
#BSUB -nnodes 1
#BSUB -W 0:10

set -euo pipefail
export OMP_NUM_THREADS=7 OMP_PROC_BIND=spread OMP_PLACES=cores
jsrun --nrs 1 --tasks_per_rs 1 --cpu_per_rs 7 --gpu_per_rs 1 --bind packed:7 "$@"
