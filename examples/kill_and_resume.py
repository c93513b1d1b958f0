#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills a training at random moments, starts the same command again, and compares its results with those of a
training that was never interrupted.

usage: kill_and_resume.py KILLS FOLDER PROGRAM RESULTS COMMAND...

COMMAND starts PROGRAM, by itself or under mpiexec; FOLDER is made anew. One of its ranks is killed by SIGKILL. RESULTS
are files in the program's --folder, separated by commas, and the folder of its checkpoints: weights, tables, and
tables whose last column is seconds, which are not compared.
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


def runs(pid, program):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == program
    except OSError:
        return False


def ranks_of(process, program):
    """The processes of the program that were started by a command, without what they started themselves: at its end a
    program under LeakSanitizer copies itself and waits for the copy, for ever if that alone is killed."""
    started = [process.pid] + children(process.pid)
    ranks = [pid for pid in started if runs(pid, program)]
    copies = {below for rank in ranks for below in children(rank)}
    return [rank for rank in ranks if rank not in copies]


def without_seconds(table):
    """A table, without its last column where that is seconds."""
    lines = table.splitlines()
    return [line.rsplit(",", 1)[0] for line in lines] if lines[0].endswith(",seconds") else lines


def contents(folder, results):
    """The bytes of files, and the names of those in folders."""
    found = []
    for result in (folder / name for name in results):
        if result.is_dir():
            found.append(sorted(path.name for path in result.iterdir()))
        else:
            found.append(without_seconds(result.read_text()) if result.suffix == ".csv" else result.read_bytes())
    return found


def main():
    kills, root, program, results = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4].split(",")
    command = sys.argv[5:]
    shutil.rmtree(root, ignore_errors=True)
    whole, parts = root / "whole", root / "parts"
    root.mkdir(parents=True)

    start = time.time()
    done = subprocess.run(command + ["--folder", str(whole)], stdout=subprocess.DEVNULL, timeout=120)
    duration = time.time() - start
    if done.returncode != 0:
        sys.exit("the training by itself failed")
    expected = contents(whole, results)

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
            if contents(parts, results) != expected:
                sys.exit(f"after {killed} kills: resumed training differs from that without an interruption")
            shutil.rmtree(parts)
    print(f"{killed} kills in {rounds} runs: the same results and checkpoints")


main()
