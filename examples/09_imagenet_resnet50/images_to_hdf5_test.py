#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts images of all kinds that it draws, and compares the HDF5 file with what was drawn."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
    from PIL import Image
except ImportError as error:
    print(f"needs {error.name}")
    sys.exit(77)

CONVERT = [sys.executable, pathlib.Path(__file__).with_name("images_to_hdf5.py")]
EXTENT = 56

# (class, name, mode, size, colour, what the middle becomes): uniform images, so that scaling changes nothing
DRAWN = [
    ("cat", "a.png", "RGB", (200, 100), (10, 200, 30), (10, 200, 30)),
    ("cat", "deep/b.PNG", "L", (64, 300), 77, (77, 77, 77)),
    ("dog", "c.png", "RGBA", (64, 64), (5, 6, 7, 128), (5, 6, 7)),
    ("dog", "d.png", "P", (90, 90), 0, (0, 0, 0)),
    ("dog", "e.jpg", "RGB", (500, 400), (120, 120, 120), (120, 120, 120)),
    ("emu", "f.jpeg", "L", (20, 30), 200, (200, 200, 200)),
    ("emu", "g.jpg", "CMYK", (80, 80), (0, 0, 0, 255), (0, 0, 0)),
]


def convert(folder, file, *options):
    return subprocess.run([*CONVERT, folder, file, "--extent", str(EXTENT), *options], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root) / "images"
    for kind, name, mode, size, colour, _ in DRAWN:
        path = folder / kind / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new(mode, size, colour).save(path, quality=100) if "j" in path.suffix else Image.new(mode, size, colour).save(path)
    # Left half dark, right half bright: the crop keeps both halves of the middle, in the image's orientation.
    halves = numpy.zeros((100, 200, 3), numpy.uint8)
    halves[:, 100:] = 255
    halves[:50, :, 2] = 128
    Image.fromarray(halves).save(folder / "emu" / "halves.png")
    whole = (folder / "cat" / "a.png").read_bytes()
    (folder / "cat" / "cut.png").write_bytes(whole[: len(whole) // 2])
    (folder / "dog" / "text.jpg").write_text("no image")
    (folder / "dog" / "notes.txt").write_text("ignored")
    file = pathlib.Path(root) / "out.h5"
    run = convert(folder, file, "--chunk", "3")
    assert run.returncode == 0, run.stderr
    assert "cut.png" in run.stderr and "text.jpg" in run.stderr and "notes" not in run.stderr, run.stderr
    with h5py.File(file) as data:
        images, labels = data["images"][:], data["labels"][:]
        names = [name.decode() for name in data["classes"]]
        assert data["images"].chunks == (3, 3, EXTENT, EXTENT) and data["images"].dtype == "u1"
    assert names == ["cat", "dog", "emu"], names
    assert images.shape == (len(DRAWN) + 1, 3, EXTENT, EXTENT) and len(labels) == len(images), images.shape
    expected = sorted((names.index(kind), *middle) for kind, *_, middle in DRAWN)
    found, pictures = [], 0
    for image, label in zip(images, labels):
        spread = image.reshape(3, -1)
        if (spread.max(1).astype(int) - spread.min(1)).max() > 4:
            pictures += 1
            assert label == 2 and image[0, :, 0].max() == 0 and image[0, :, -1].min() == 255, label
            assert image[2, 0, 0] == 128 and image[2, -1, 0] == 0
        else:
            found.append((int(label), *(int(channel) for channel in spread.mean(1).round())))
    assert pictures == 1
    for a, b in zip(sorted(found), expected):
        assert a[0] == b[0] and all(abs(x - y) <= 2 for x, y in zip(a[1:], b[1:])), (a, b)
    # Errors are sentences, and a file that was there stays.
    before = file.read_bytes()
    for wrong in (pathlib.Path(root) / "absent", folder / "cat" / "deep"):
        run = convert(wrong, file)
        assert run.returncode == 1 and run.stderr.startswith("images_to_hdf5: expected"), run.stderr
    assert file.read_bytes() == before
    assert not [path for path in pathlib.Path(root).iterdir() if path.suffix == ".tmp"]
print("8 images of 3 classes agree")
