#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""registers.py OBJDUMP OBJECT...: the sums of a contraction stay in registers.

Reads the machine code of objects that hold contractions and nothing else that multiplies and adds
in so short a loop. In an innermost loop of RegisterBlock::multiply, or of DotPairs::Block::add,
there are loads of a row of weights, broadcasts of x, multiply-adds, and arithmetic of two pointers
or counters: no store, and nothing on the stack. A chain of pointwise functions is another loop of
multiply-adds: it has arithmetic of vectors that no contraction has, and is left alone. Exit status 77: no objdump.
"""
import os
import re
import shutil
import subprocess
import sys

FEWEST = 8  # multiply-adds on vectors: blocks of one or two samples are shorter
FEWEST_LOOPS = 8  # compilers share the loops of equal layers
SKIPPED = 77
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*?)\s*$")
TARGET = re.compile(r"^([0-9a-f]+) <")
MULTIPLY_ADD = re.compile(r"^(vfn?m(add|sub)\d+ps|vdpbf16ps)$")
MEMORY = re.compile(r"\(.*\)")
STACK = re.compile(r"%r[sb]p")
# What a contraction is made of. Compilers copy a register where a block's sums change places.
EXPECTED = re.compile(r"^(vfn?m(add|sub)\d+ps|vdpbf16ps|vbroadcastss|vpbroadcastd|vmov[au]ps|vmovdqa(64)?|"
                      r"add|sub|lea|inc|dec|mov|cmp|test|j\w+|nop\w?|data16|cs|xchg)$")


def functions(objdump, path):
    """Name and instructions (address, operation, operands) of every function."""
    text = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    found = []
    for line in text.split("\n"):
        if match := FUNCTION.match(line):
            found.append((match[1], []))
        elif found and (match := INSTRUCTION.match(line)):
            # "# 40 <name>" and "<name+0x40>" are notes of the disassembler.
            found[-1][1].append((int(match[1], 16), match[2], match[3]))
    return found


def innermost_loops(instructions):
    """Bodies from the target of a backward jump to the jump, that hold no other such body."""
    jumps = []
    for address, operation, operands in instructions:
        target = TARGET.match(operands) if operation.startswith("j") else None
        if target and instructions[0][0] <= int(target[1], 16) <= address:
            jumps.append((int(target[1], 16), address))
    for begin, end in jumps:
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in jumps):
            yield [i for i in instructions if begin <= i[0] <= end]


def operands_only(operands):
    return operands.split(" <")[0].split("#")[0]


def faults(body):
    """Instructions of a contraction's loop that keep sums, or anything else, in memory."""
    for address, operation, operands in body:
        operands = operands_only(operands)
        destination = re.sub(r"\([^)]*\)", "()", operands).split(",")[-1]
        writes = "()" in destination and operation not in ("cmp", "test", "lea") and not operation.startswith("nop")
        if writes or (MEMORY.search(operands) and STACK.search(operands) and operation != "lea"):
            yield f"{address:x}: {operation} {operands}"


def main():
    objdump = shutil.which(sys.argv[1])
    if objdump is None:
        print(f"registers.py: there is no {sys.argv[1]}.")
        return SKIPPED
    failed = False
    for path in sys.argv[2:]:
        count = multiply_adds = pairs = 0
        multiplies_pairs = False
        for name, instructions in functions(objdump, path):
            multiplies_pairs |= any(i[1] == "vdpbf16ps" for i in instructions)
            for body in innermost_loops(instructions):
                on_vectors = [i for i in body if MULTIPLY_ADD.match(i[1]) and re.search(r"%[yz]mm", operands_only(i[2]))]
                if len(on_vectors) < FEWEST or not all(EXPECTED.match(i[1]) for i in body):
                    continue
                count += 1
                multiply_adds += len(on_vectors)
                pairs += on_vectors[0][1] == "vdpbf16ps"
                for fault in faults(body):
                    failed = True
                    print(f"{os.path.basename(path)}: {name[:200]}\n  {len(on_vectors)} multiply-adds and {fault}")
        print(f"{os.path.basename(path)}: {count} loops of contractions, {pairs} of pairs; "
              f"{multiply_adds} multiply-adds in them.")
        # Where pairs are multiplied, float is for the few samples that are not worth packing.
        if (pairs if multiplies_pairs else count) < FEWEST_LOOPS:
            failed = True
            print(f"  Expected at least {FEWEST_LOOPS} loops: the test does not see the kernels.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
