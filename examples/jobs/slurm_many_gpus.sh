#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two nodes of a Slurm machine with four GPUs each, a rank for each GPU; change the two numbers, or
# give them on the command line: sbatch --nodes=8 --gpus-per-node=6 --ntasks-per-node=6 ...
#   sbatch examples/jobs/slurm_many_gpus.sh build/cuda/examples/01_digits/digits_train --batch 512
#SBATCH --job-name=phyllo
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=00:30:00

set -euo pipefail
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1} OMP_PROC_BIND=spread OMP_PLACES=cores
# All ranks of a node see all its GPUs, which direct copies between them want; Kokkos gives rank r of
# a node its GPU r.
export KOKKOS_MAP_DEVICE_ID_BY=mpi_rank
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --gpu-bind=none "$@"
