#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether docs/make_reference.py --check sees each mistake: copies of the project with one mistake each.

usage: reference_self_test.py PROJECT FOLDER
"""

import pathlib
import shutil
import subprocess
import sys

# A file of the copy, a text in it, what takes its place, and a part of the message.
MISTAKES = [
    ("docs/reference.md", "The rectifier y = max", "The y = max", "docs/reference.md is not what the docstrings say"),
    ("include/phyllo/layer/relu.hpp", "/// The rectifier y", "/// Rectifier: y", "docs/reference.md is not what the docstrings say"),
    ("include/phyllo/layer/relu.hpp", "/// numerics exact; the derivative at zero is zero\n", "", "ReLU has no key numerics"),
    ("include/phyllo/layer/relu.hpp", "/// The rectifier y = max(x, 0).", "/// The rectifier.", "ReLU has no formula"),
    ("include/phyllo/train/lion.hpp", "/// state    one number per parameter\n", "", "Lion has no key state"),
    ("include/phyllo/train/lion.hpp", "struct Lion {", "struct Tiger {", "Tiger is not in docs/reference.tsv"),
    ("include/phyllo/train/schedule.hpp", "/// source   torch.optim.lr_scheduler.SequentialLR\n", "", "sequential_schedule has no key source"),
    ("include/phyllo/loss/huber.hpp", "struct SmoothL1 {", "struct Smoothed {", "no header declares SmoothL1"),
    ("include/phyllo/model/initialization.hpp", "/// source   Glorot and Bengio, AISTATS 2010, eq. 16\n", "", "XavierUniform has no key source"),
    ("docs/reference.tsv", "Mish\ttorch.nn.Mish\n", "", "Mish is not in docs/reference.tsv"),
    ("docs/reference.tsv", "Mish\ttorch.nn.Mish\n", "Mish\n", "needs a tab and PyTorch's name"),
    ("include/phyllo/train/sgd.hpp", "///          momentum) · nesterov", "/// momentum) · nesterov", "is neither a key nor indented"),
    ("include/phyllo/layer/mish.hpp", "\n/// errors   ", " errors   ", "contains another key"),
    ("include/phyllo/op/lstm_cell.hpp", "/// shape    gates", "/// source   none\n/// shape    gates", "key shape comes behind source"),
]


def check(root, script):
    run = subprocess.run([sys.executable, script, "--check", "--root", root], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def main():
    project, folder = (pathlib.Path(argument) for argument in sys.argv[1:3])
    script = project / "docs" / "make_reference.py"
    root = folder / "project"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(project / "include", root / "include")
    (root / "docs").mkdir()
    for name in ("reference.md", "reference.tsv"):
        shutil.copy(project / "docs" / name, root / "docs" / name)
    failures = []
    code, output = check(root, script)
    if code != 0:
        failures.append(f"a copy without a mistake fails: {output}")
    for name, text, replacement, message in MISTAKES:
        path = root / name
        right = path.read_text()
        if text not in right:
            failures.append(f"{name} has no {text!r}")
            continue
        path.write_text(right.replace(text, replacement, 1))
        code, output = check(root, script)
        if code == 0 or message not in output:
            failures.append(f"{name} without {text!r}: expected {message!r}, got {output!r}")
        path.write_text(right)
    print("\n".join(failures) or f"{len(MISTAKES)} mistakes are found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
