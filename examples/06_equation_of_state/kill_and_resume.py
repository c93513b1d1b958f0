#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills a training at random moments, starts the same command again, and compares weights and log with those of a
training that was never interrupted.

usage: kill_and_resume.py KILLS FOLDER COMMAND...

COMMAND starts the program, by itself or under mpiexec; FOLDER is made anew. One of its ranks is killed by SIGKILL.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time


def children(pid):
    """Processes below a process, by /proc."""
    parents = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    below, wanted = [], [pid]
    while wanted:
        found = parents.get(wanted.pop(), [])
        below += found
        wanted += found
    return below


def ranks_of(process, program):
    """The processes of the program that were started by a command."""
    found = []
    for pid in [process.pid] + children(process.pid):
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == program:
                found.append(pid)
        except OSError:
            pass
    return found


def contents(folder):
    """Weights, and the log without its seconds."""
    log = (folder / "training/log.csv").read_text().splitlines()
    last = sorted((folder / "training/checkpoints").glob("*.safetensors"))[-1]
    return [line.rsplit(",", 1)[0] for line in log], (folder / "training/best.safetensors").read_bytes(), last.name


def main():
    kills, root, command = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    program = next(os.path.basename(word) for word in command if os.path.basename(word) == "equation_of_state")
    shutil.rmtree(root, ignore_errors=True)
    whole, parts = root / "whole", root / "parts"
    root.mkdir(parents=True)

    start = time.time()
    done = subprocess.run(command + ["--folder", str(whole)], stdout=subprocess.DEVNULL, timeout=120)
    duration = time.time() - start
    if done.returncode != 0:
        sys.exit("the training by itself failed")
    expected = contents(whole)

    lot = random.Random(2026)
    killed, rounds = 0, 0
    while killed < kills:
        rounds += 1
        process = subprocess.Popen(command + ["--folder", str(parts)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            # Also while it starts, and while it ends.
            process.wait(timeout=lot.uniform(0.1, 1.1) * duration)
        except subprocess.TimeoutExpired:
            ranks = ranks_of(process, program)
            if ranks:
                os.kill(lot.choice(ranks), signal.SIGKILL)
                killed += 1
            process.wait(timeout=60)
        if process.returncode == 0 or killed == kills:
            if process.returncode != 0:
                subprocess.run(command + ["--folder", str(parts)], stdout=subprocess.DEVNULL, check=True, timeout=120)
            if contents(parts) != expected:
                sys.exit(f"after {killed} kills: resumed training differs from that without an interruption")
            shutil.rmtree(parts)
    print(f"{killed} kills in {rounds} runs: the same weights, log and last checkpoint")


main()
