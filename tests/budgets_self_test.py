# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: budgets_self_test.py BUDGETS: what the script BUDGETS says of a small folder."""
import pathlib
import subprocess
import sys
import tempfile


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def times(seconds):
    return f"0m0.001s 0m0.002s\n0m{seconds:.3f}s 0m0.500s\n"


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    table = folder / "budgets.tsv"

    def judge(*options):
        done = subprocess.run([sys.executable, sys.argv[1], folder / "build", "--gpu", folder / "gpu", "--table", table,
                               *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def expect(wanted, *sentences):
        status, output = judge()
        if status != wanted or any(sentence not in output for sentence in sentences):
            sys.exit(f"expected status {wanted} and {sentences}, got {status} and:\n{output}")

    write(table, "# heading\nsum\t6\ndefault\t1\nslow\t3\n")
    write(folder / "build/cpu/slow/slow.1", times(3))
    expect(1, "no record of perf/compile_time/mlp.cpp")
    for number, cost in enumerate((9, 1.5, 0.5)):  # the unit is 2 s
        write(folder / f"build/tests/CMakeFiles/phyllo_reference_{number}.dir/mlp.cpp.o.cpu", times(cost))
    write(folder / "build/tests/CMakeFiles/slow.dir/slow.cpp.o.cpu", times(1))
    write(folder / "build/tests/slow.cpu", times(0))
    expect(0, "sum of 1")
    write(folder / "gpu/nvcc-13.0-quick/sm_90.tests.gpu.wide.o.cpu", times(3))
    expect(1, "nvcc.tests.gpu.wide costs 1.8 times", "its budget in tests/budgets.tsv is 1.")
    write(table, "# heading\nsum\t4\ndefault\t2\nslow\t3\n")
    expect(1, "the limit in tests/budgets.tsv is 4")
    judge("--update")
    if table.read_text() != "# heading\nsum\t4\ndefault\t2\nnvcc.tests.gpu.wide\t2.6\nslow\t4.1\n":
        sys.exit("--update wrote:\n" + table.read_text())
