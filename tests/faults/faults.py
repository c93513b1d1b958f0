#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a training again and again, in which one rank stalls, throws, leaves or dies, and holds
what comes of it against what is promised.

usage: faults.py [--library-sums] RUNS RANKS MPIEXEC [ARGUMENT]... PROGRAM

With --library-sums gradients are summed by the MPI library's all-reduce instead of our messages.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time

TIMEOUT = 1.5  # seconds; of the Mpi of each run
# Without the second option MPI_Finalize waits for the launcher, which now and then waits for the dead.
RECOVERING = ["--with-ft", "ulfm", "--mca", "async_mpi_finalize", "1"]
PHASE = r"(?:forward pass|backward pass|sum of gradients)"


def schedule(runs, ranks, has_ulfm):
    """One run of each kind first, the ordinary test's four among them; then by lot, the same each time."""
    kinds = ["stall", "throw", "kill", "recover", "refuse", "leave"]
    if not has_ulfm:
        kinds.remove("recover")
    lot = random.Random(2026)
    for run in range(runs):
        kind = kinds[run % len(kinds)]
        yield kind, lot.randrange(ranks), lot.randrange(11, 40) if kind == "recover" else lot.randrange(1, 40)


def start(command):
    """The lines of standard error as (time, rank, text), the exit status (None: it hung), the end."""
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=environment, start_new_session=True)
    try:
        _, text = process.communicate(timeout=TIMEOUT + 60)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, text = process.communicate()
        status = None
    end = time.time()
    lines = [(float(t), int(r), s) for t, r, s in re.findall(r"^(\d+\.\d+) rank (\d+): (.*)$", text, re.M)]
    return lines, status, end, text


def broken_promises(kind, victim, step, ranks, calls, lines, status, end):
    if status is None:
        return ["it hung"]
    faults = [t for t, rank, text in lines if text == "fault" and rank == victim]
    if len(faults) != 1:
        return ["the fault did not happen"]
    took = end - faults[0]
    broken = []
    if kind == "recover":
        dead = [rank for _, rank, text in lines if f"got rank {victim} dead" in text and
                re.match(rf"Small on rank {rank}, step {step}, {PHASE}: ", text)]
        if sorted(dead) != [r for r in range(ranks) if r != victim]:
            broken.append(f"not every survivor named the dead rank, step and phase: {dead}")
        begun = {text for _, _, text in lines if text.startswith("continues")}
        committed = (step - 1) // 5 * 5
        if begun - {f"continues from step {committed}", f"continues from step {committed - 5}"} or len(begun) != 1:
            broken.append(f"the survivors went on from {begun}")
        ends = [text for _, _, text in lines if text.startswith("trained 40 steps")]
        if len(ends) != ranks - 1 or len(set(ends)) != 1:
            broken.append(f"the survivors ended with {ends}")
        return broken
    if status == 0:
        broken.append("the exit status is 0")
    if kind == "kill":
        if took > 5:
            broken.append(f"the launcher took {took:.1f} s")
        return broken
    why = "which left by an exception" if kind in ("throw", "refuse") else "which has stalled or stopped"
    patience = 0 if kind in ("throw", "refuse") else TIMEOUT
    named = [t for t, rank, text in lines if rank != victim and re.match(
        rf"Small on rank {rank}, step {step}, {PHASE}: Mpi on rank {rank}: waited [0-9.e-]+ s in "
        rf"{calls} for rank {victim}, {why}\.", text)]
    if not named:
        broken.append("nobody named the rank, the step and the phase")
    elif min(named) - faults[0] > patience + 1:
        broken.append(f"the sentence came after {min(named) - faults[0]:.2f} s")
    if kind == "refuse" and not any(
            rank == victim and text.startswith(f"Small on rank {victim}, step {step}, forward pass: Small: expected")
            for _, rank, text in lines):
        broken.append("the rank that threw did not name itself, the step and the phase")
    if took > patience + 5:
        broken.append(f"the job took {took:.1f} s to end")
    return broken


def main():
    arguments = [a for a in sys.argv[1:] if a != "--library-sums"]
    library_sums = len(arguments) < len(sys.argv) - 1
    runs, ranks, launcher, command = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3:]
    calls = r"(?:MPI_Allreduce|a non-blocking collective call)" if library_sums else "a sum"
    last = ["library-sums"] if library_sums else []
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    has_ulfm = "Open MPI" in version or "prte" in version.lower()
    if not has_ulfm:
        print(f"without runs of kind recover: {launcher} is not Open MPI's")
    failed = 0
    for number, (kind, victim, step) in enumerate(schedule(runs, ranks, has_ulfm)):
        extra = RECOVERING if kind == "recover" else []
        lines, status, end, text = start([launcher, *extra, *command, kind, str(victim), str(step), str(TIMEOUT), *last])
        broken = broken_promises(kind, victim, step, ranks, calls, lines, status, end)
        print(f"{number + 1:3} {kind} by rank {victim} before step {step}: {'; '.join(broken) or 'as promised'}", flush=True)
        if broken:
            failed += 1
            print(text)
    print(f"{runs - failed} of {runs} runs ended or recovered as promised{', with sums of the MPI library' if library_sums else ''}")
    return 1 if failed else 0


sys.exit(main())
