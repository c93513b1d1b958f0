# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Phyllo's safetensors files against those of the reference implementation.

usage: safetensors_reference.py TEST_PROGRAM

TEST_PROGRAM is the one built of tests/io/safetensors.cpp. The reference writes files, Phyllo copies
them, and the reference reads the copies: names, types, shapes, bytes and metadata must be the same,
and the bytes of the whole file too. Then the reference and Phyllo must refuse the same bad files.
Exit status 77: skipped, for the reference (Debian: python3-safetensors) is not there.
"""

import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import safetensors
except ImportError:
    print("skipped: Python has no module safetensors (Debian: python3-safetensors)")
    sys.exit(77)

# By the name that the module's serialize_file() takes: the name in files, and bits.
TYPES = {
    "bool": ("BOOL", 8), "uint8": ("U8", 8), "int8": ("I8", 8),
    "float8_e5m2": ("F8_E5M2", 8), "float8_e4m3fn": ("F8_E4M3", 8),
    "float8_e8m0fnu": ("F8_E8M0", 8), "float8_e4m3fnuz": ("F8_E4M3FNUZ", 8),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", 8),
    "int16": ("I16", 16), "uint16": ("U16", 16), "float16": ("F16", 16), "bfloat16": ("BF16", 16),
    "int32": ("I32", 32), "uint32": ("U32", 32), "float32": ("F32", 32), "complex64": ("C64", 64),
    "float64": ("F64", 64), "int64": ("I64", 64), "uint64": ("U64", 64),
}
SHAPES = [[], [1], [2, 3], [4, 1, 2, 1, 3], [0], [3, 0, 2]]


def copy(program, source, target):
    """Lets Phyllo read one file and write it as another: the finished process."""
    return subprocess.run(
        [program, "--no-skip", "--test-case=copy a safetensors file"],
        env={**os.environ, "PHYLLO_COPY_FROM": source, "PHYLLO_COPY_TO": target},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def tensor(dtype, shape, bits, seed):
    count = 1
    for extent in shape:
        count *= extent
    data = bytes((seed + 37 * index) % 256 for index in range(count * bits // 8))
    return {"dtype": dtype, "shape": shape, "data": data}


def cases():
    """Pairs of a title and what to write: tensors by name, metadata."""
    everything = {}
    for dtype, (spelling, bits) in TYPES.items():
        for number, shape in enumerate(SHAPES):
            everything[f"{spelling}.{number}"] = tensor(dtype, shape, bits, len(everything))
    yield "all types and shapes", everything, None
    yield "all types, metadata", everything, {"step": "12"}
    yield "no tensors", {}, None
    yield "names", {
        "": tensor("uint8", [1], 8, 1), "a \"quoted\" \\ name": tensor("uint8", [2], 8, 2),
        "control \b\t\n\f\r\x00\x01\x1f\x7f/": tensor("uint8", [3], 8, 3),
        "\u00e9\u20ac\U0001f600": tensor("float32", [1], 32, 4),
    }, {"note \u00e9 \"\\\n": "text \U0001f600 \x01"}
    yield "many", {f"layer.{number}.weight": tensor("float32", [number % 4, 3], 32, number)
                   for number in range(500)}, {}


def write_by_reference(tensors, path, metadata):
    buffers = []  # from version 0.8 on the module takes addresses, which these keep alive
    if hasattr(safetensors, "TensorSpec"):
        def spec(entry):
            buffers.append(ctypes.create_string_buffer(entry["data"]))
            return safetensors.TensorSpec(
                dtype=entry["dtype"], shape=entry["shape"],
                data_ptr=ctypes.addressof(buffers[-1]), data_len=len(entry["data"]))
        tensors = {name: spec(entry) for name, entry in tensors.items()}
    safetensors.serialize_file(tensors, path, metadata)


def described(path):
    """What a file holds, by the reference, and by the header itself for the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    metadata = json.loads(data[8:8 + length]).get("__metadata__") or {}
    return sorted((name, entry["dtype"], tuple(entry["shape"]), bytes(entry["data"]))
                  for name, entry in safetensors.deserialize(data)), metadata


def bad_files():
    """What both refuse; a tensor twice is not here: the format forbids it, version 0.8 takes it."""
    def entry(dtype="U8", shape=(1,), begin=0, end=1):
        return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}

    def file(header, data=b""):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    yield "short", b"\x02"
    yield "length beyond the file", struct.pack("<Q", 1 << 40) + b"{}"
    yield "length of the format's limit", struct.pack("<Q", 100_000_001) + b"{}"
    yield "not JSON", file(b"{\"t\":")
    yield "no UTF-8", file(b"{\"\xff\":{}}")
    yield "an unknown type", file({"t": entry(dtype="X")}, b"x")
    yield "a hole", file({"t": entry(begin=1, end=2)}, b"xy")
    yield "a rest", file({"t": entry()}, b"xy")
    yield "an overlap", file({"a": entry(), "b": entry()}, b"x")
    yield "offsets outside", file({"t": entry(shape=(2,), end=2)}, b"x")
    yield "reversed offsets", file({"t": entry(begin=1, end=0)}, b"x")
    yield "a size that does not match", file({"t": entry(dtype="F32")}, b"x")
    yield "an overflow", file({"t": entry(shape=(1 << 40, 1 << 40), end=0)})
    yield "a negative extent", file({"t": entry(shape=(-1,))}, b"x")
    yield "a fraction", file({"t": entry(shape=(1.0,))}, b"x")
    yield "metadata that is no text", file({"__metadata__": {"k": 1}})
    yield "packed elements that fill no byte", file({"t": entry(dtype="F4", shape=(3,))}, b"x")


def main():
    program = os.path.abspath(sys.argv[1])
    failures = 0

    def check(holds, title, output=""):
        nonlocal failures
        if not holds:
            failures += 1
            print(f"FAILED: {title}\n{output}")

    compared = 0
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, "reference.safetensors")
        target = os.path.join(directory, "phyllo.safetensors")
        for title, tensors, metadata in cases():
            write_by_reference(tensors, source, metadata)
            done = copy(program, source, target)
            check(done.returncode == 0, title, done.stdout)
            if done.returncode != 0:
                continue
            check(described(target) == described(source), title + ": content")
            with open(source, "rb") as first, open(target, "rb") as second:
                # `"__metadata__":{}` is what the reference alone writes.
                check(metadata == {} or first.read() == second.read(), title + ": bytes")
            compared += len(tensors)
            os.remove(target)
        for spelling, bits in (("F4", 4), ("F6_E2M3", 6), ("F6_E3M2", 6)):
            header = json.dumps({"t": {"dtype": spelling, "shape": [4, 2],
                                       "data_offsets": [0, bits]}}, separators=(",", ":")).encode()
            with open(source, "wb") as file:
                file.write(struct.pack("<Q", len(header)) + header + bytes(range(bits)))
            done = copy(program, source, target)
            check(done.returncode == 0 and described(target) == described(source), spelling,
                  done.stdout)
            compared += 1
        refused = 0
        for title, data in bad_files():
            with open(source, "wb") as file:
                file.write(data)
            try:
                safetensors.deserialize(data)
                check(False, title + ": the reference accepts it")
            except safetensors.SafetensorError:
                pass
            done = copy(program, source, target)
            check(done.returncode != 0 and "expected" in done.stdout, title + ": accepted",
                  done.stdout)
            refused += 1
    print(f"safetensors {safetensors.__version__}: {compared} tensors compared, "
          f"{refused} bad files refused by both, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
