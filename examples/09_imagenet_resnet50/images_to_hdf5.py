#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a folder of JPEG and PNG images as the HDF5 file that example 09 trains from.

usage: images_to_hdf5.py FOLDER FILE.h5 [--extent 224] [--chunk 16]

FOLDER has one folder for each class, as ImageNet's train and val have. Class numbers are the order of the folders'
names. Each image is scaled so that its shorter side is EXTENT * 8 / 7, and cropped in the middle. Datasets: images
(N, 3, EXTENT, EXTENT) of unsigned bytes, labels (N), and the names of the classes. An image that cannot be read is
said and left out; the file appears complete or not at all.
"""
import argparse
import os
import pathlib
import random
import sys

try:
    import h5py
    import numpy
    from PIL import Image
except ImportError as error:
    sys.exit(f"images_to_hdf5: needs {error.name} (Debian: python3-h5py, python3-pil).")

KINDS = {".jpg", ".jpeg", ".png"}


def pixels(path, extent):
    with Image.open(path) as image:
        image = image.convert("RGB")
        factor = extent * 8 / 7 / min(image.size)
        image = image.resize([max(extent, round(factor * side)) for side in image.size], Image.Resampling.BILINEAR, reducing_gap=2)
        left, top = ((side - extent) // 2 for side in image.size)
        return numpy.asarray(image.crop((left, top, left + extent, top + extent))).transpose(2, 0, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("file")
    parser.add_argument("--extent", type=int, default=224)
    parser.add_argument("--chunk", type=int, default=16, help="images in a chunk; see docs/15_train_from_files.md")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f'images_to_hdf5: expected a folder of folders of images, got "{options.folder}". Name one.')
    classes = sorted(entry.name for entry in options.folder.iterdir() if entry.is_dir())
    paths = [(path, label) for label, name in enumerate(classes)
             for path in sorted((options.folder / name).rglob("*")) if path.suffix.lower() in KINDS]
    if not paths:
        sys.exit(f'images_to_hdf5: expected JPEG or PNG images in folders below "{options.folder}", got none.')
    random.Random(1).shuffle(paths)  # blocks of the file then have all classes
    temporary, count, left_out = f"{options.file}.{os.getpid()}.tmp", 0, 0
    try:
        with h5py.File(temporary, "w") as file:
            shape = (3, options.extent, options.extent)
            images = file.create_dataset("images", (len(paths), *shape), "u1", maxshape=(None, *shape),
                                         chunks=(min(options.chunk, len(paths)), *shape))
            labels = []
            for path, label in paths:
                try:
                    images[count] = pixels(path, options.extent)
                except OSError as error:
                    print(f'images_to_hdf5: "{path}" is left out: {error}', file=sys.stderr)
                    left_out += 1
                    continue
                labels.append(label)
                count += 1
                if count % 1000 == 0:
                    print(f"{count} of {len(paths)} images", flush=True)
            if not labels:
                sys.exit("images_to_hdf5: no image could be read.")
            images.resize(count, axis=0)
            file["labels"] = numpy.array(labels, "i4")
            file["classes"] = numpy.array([name.encode() for name in classes])
        os.replace(temporary, options.file)
    finally:
        pathlib.Path(temporary).unlink(missing_ok=True)
    print(f"{count} images of {len(classes)} classes in {options.file}, {left_out} left out")


main()
