#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One GPU of a Slurm machine. From the project's folder, with digits_train built by preset cuda or hip:
#   sbatch examples/jobs/slurm_one_gpu.sh build/cuda/examples/01_digits/digits_train --epochs 10
#SBATCH --job-name=phyllo
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=00:10:00

set -euo pipefail
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} OMP_PROC_BIND=spread OMP_PLACES=cores
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "$@"
