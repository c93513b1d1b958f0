#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Seconds, memory and kernels that training programs cost the compiler.

compile_time.py COMPILE_COMMANDS.json [--runs N] [--json FILE]

Processor seconds (user and system) are the least of the runs, which an idle machine would show;
memory is the largest resident set of a file; kernels are the distinct functors that Kokkos launches. Exits
with 1 where a budget is exceeded.
"""
import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

# Most processor seconds and MiB of memory: the promise of the demo, and of any network.
BUDGETS = {"digits_train": (20.0, 1500), None: (30.0, 2000)}


def compile_once(command, folder, object_file):
    """Processor seconds and MiB of one compilation, in a child whose children are counted alone."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        status = subprocess.call(command + ["-o", object_file], cwd=folder,
                                 env={**os.environ, "CCACHE_DISABLE": "1"})
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(writer, json.dumps([status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        status, seconds, memory = json.load(pipe)
    os.waitpid(child, 0)
    if status != 0:
        sys.exit(f"compile_time: the compiler failed: {shlex.join(command)}")
    return seconds, memory


def count_kernels(object_file):
    names = subprocess.run(["nm", "-C", object_file], check=True, capture_output=True, text=True).stdout
    found = set(re.findall(r"Kokkos::Impl::ParallelFor<(.*?), Kokkos::RangePolicy", names))
    return len(found)


def compiler_of(command):
    return subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout.split("\n")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json")
    options = parser.parse_args()
    with open(options.commands) as file:
        entries = json.load(file)
    programs = {}
    for entry in entries:
        name = os.path.splitext(os.path.basename(entry["file"]))[0]
        if "/perf/compile_time/" in entry["file"]:
            programs[name] = [entry]
        elif name in ("digits_train", "digits_options"):  # one program of two files
            programs.setdefault("digits_train", []).append(entry)
    if not programs:
        sys.exit("compile_time: no program of perf/compile_time in " + options.commands)
    failed = False
    lines = []
    print(f"{'program':24} {'CPU s':>7} {'MiB':>6} {'kernels':>8}")
    for name, files in sorted(programs.items()):
        seconds, memory, kernels = 0.0, 0.0, 0
        for entry in files:
            command = shlex.split(entry["command"])
            at = command.index("-o")
            del command[at:at + 2]
            with tempfile.TemporaryDirectory() as folder:
                object_file = os.path.join(folder, "program.o")
                runs = [compile_once(command, entry["directory"], object_file) for _ in range(options.runs)]
                kernels += count_kernels(object_file)
            seconds += min(r[0] for r in runs)
            memory = max(memory, *(r[1] for r in runs))
        most_seconds, most_memory = BUDGETS.get(name, BUDGETS[None])
        over = seconds > most_seconds or memory > most_memory
        failed |= over
        verdict = f"  over its budget of {most_seconds:g} s and {most_memory} MiB" if over else ""
        print(f"{name:24} {seconds:7.1f} {memory:6.0f} {kernels:8d}{verdict}")
        lines.append({"program": name, "cpu_seconds": round(seconds, 2), "mebibytes": round(memory),
                      "kernels": kernels, "compiler": compiler_of(command)})
    if options.json:
        with open(options.json, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    sys.exit(failed)


if __name__ == "__main__":
    main()
