#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two nodes of an LSF machine with jsrun and six GPUs a node, such as Summit: a resource set for each
# GPU, which is the only one that its rank sees.
#   bsub -P <project> examples/jobs/lsf_many_gpus.sh build/cuda/examples/01_digits/digits_train
#BSUB -J phyllo
#BSUB -nnodes 2
#BSUB -W 0:30

set -euo pipefail
readonly nodes=2 gpus_of_node=6
export OMP_NUM_THREADS=7 OMP_PROC_BIND=spread OMP_PLACES=cores
jsrun --nrs $((nodes * gpus_of_node)) --tasks_per_rs 1 --cpu_per_rs 7 --gpu_per_rs 1 \
  --rs_per_host "$gpus_of_node" --bind packed:7 "$@"
