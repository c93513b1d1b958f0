#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""vector_loops.py OBJDUMP FUNCTIONS OBJECT...: loops over elementary functions are vector code.

Reads the machine code of core/elementary_loops.cpp or layer/pointwise_loops.cpp: each function is one
loop, which has arithmetic of vectors of its type, and neither arithmetic of single numbers nor a
call. FUNCTIONS is how many each object has. Exit status 77: no objdump.
"""
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77
FUNCTION = re.compile(r"^[0-9a-f]+ <(?:(\w+)_(float|double)|.*)>:$")
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\s+(\S+)")
ARITHMETIC = r"^v?(mul|add|sub|div|sqrt|fn?m(add|sub)\d+)"


def main():
    objdump = shutil.which(sys.argv[1])
    if objdump is None:
        print(f"vector_loops.py: there is no {sys.argv[1]}.")
        return SKIPPED
    failed, expected = False, int(sys.argv[2])
    for path in sys.argv[3:]:
        text = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
        found, function = {}, None
        for line in text.split("\n"):
            if match := FUNCTION.match(line):
                function = (match[1], match[2]) if match[1] else None
                if function:
                    found[function] = []
            elif function and (match := INSTRUCTION.match(line)):
                found[function].append(match[1])
        if len(found) != expected:
            failed = True
            print(f"{path}: {len(found)} functions, expected {expected}: the test does not see the loops.")
        for (name, kind), operations in found.items():
            suffix = "s" if kind == "float" else "d"
            vectors = sum(bool(re.match(f"{ARITHMETIC}p{suffix}$", o)) for o in operations)
            single = sum(bool(re.match(f"{ARITHMETIC}s{suffix}$", o)) for o in operations)
            calls = sum(o.startswith("call") for o in operations)
            if vectors == 0 or single > 0 or calls > 0:
                failed = True
                print(f"{os.path.basename(os.path.dirname(path))}: {name} of {kind} is not vector code: {vectors} operations of "
                      f"vectors, {single} of single numbers, {calls} calls.")
        print(f"{path}: {len(found)} loops, {sum(map(len, found.values()))} instructions.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
