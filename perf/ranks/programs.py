# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on one or two ranks that are asked for samples in turns; for perf/communication and perf/scaling."""

import importlib.machinery
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
run = importlib.machinery.SourceFileLoader("perf_run", str(ROOT / "perf/run")).load_module()
SUITE = run.Suite("openmp", run.Target(None))
FOLDER = SUITE.folder / "perf/ranks"
# The batch of a rank.
BATCHES = {"mlp": 16384, "lenet": 128, "wide-mlp": 1024, "resnet18": 2}


def path(name):
    return str(FOLDER / ("perf_ranks_" + name))


def on_ranks(count, command):
    """One rank with one thread on each of the first cores."""
    launcher = shutil.which("mpirun")
    if launcher is None:
        run.fail("there is no mpirun here. Prefix the command with cmake/dev-env.")
    line = [launcher, "--bind-to", "none"]
    for rank in range(count):
        line += [":"] * (rank > 0) + ["-n", "1", "env", f"OMP_PLACES={{{rank}}}", *command]
    return line


class Program:
    """A process that says what it can time, one JSON object a line, and then times it when it is asked to."""

    def __init__(self, command, environment=None):
        own = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "close",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **(environment or {})}
        self.cases, self.reason = [], None
        self.process = subprocess.Popen(command, env=own, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in self.process.stdout:
            line = line.strip()
            if line == "ready":
                return
            if line.startswith("absent:"):
                self.reason = line[len("absent:"):].strip()
                return
            self.cases.append(json.loads(line))
        self.reason = "it stopped: " + self.process.stderr.read()[-2000:]

    def sample(self, index):
        time.sleep(run.REST)
        self.process.stdin.write(f"sample {index}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            run.fail("a program stopped: " + self.process.stderr.read()[-2000:])
        return float(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def in_turns(programs, samples):
    """Every case of every program once a round; each case gets its "seconds"."""
    times = {(p, k): [] for p in programs for k in range(len(p.cases))}
    for _ in range(samples):
        for (program, k), seconds in times.items():
            seconds.append(program.sample(k))
    for (program, k), seconds in times.items():
        program.cases[k]["seconds"] = {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}


def started(command, environment=None):
    program = Program(command, environment)
    if program.reason is not None:
        run.fail(f"{command[-1]}: {program.reason}")
    return program
