#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws training images and the confusion matrix of held-out ones: plot_images.py TRAINING.h5 CONFUSION.csv PICTURE.png"""
import sys

try:
    import h5py
    import matplotlib
    import numpy
except ImportError as error:
    sys.exit(f"plot_images: needs {error.name} (Debian: python3-h5py, python3-matplotlib).")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

if len(sys.argv) != 4:
    sys.exit(__doc__)
with h5py.File(sys.argv[1]) as file:
    names = [name.decode() for name in file["classes"]]
    images, labels = file["images"][:40], file["labels"][:40]
matrix = numpy.loadtxt(sys.argv[2], delimiter=",", ndmin=2)

figure = plt.figure(figsize=(13, 5.5), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1.3, 1])
shown = sorted(range(len(labels)), key=lambda n: labels[n])
for axis, n in zip(left.subplots(4, 10).T.flat, shown):
    axis.imshow(images[n].transpose(1, 2, 0))
    axis.set_axis_off()
left.suptitle(f"Training images, {images.shape[2]}x{images.shape[3]}")
axis = right.subplots()
share = matrix / numpy.maximum(matrix.sum(1, keepdims=True), 1)
axis.imshow(share, cmap="Blues", vmin=0, vmax=1)
if len(names) <= 20:
    axis.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axis.set_yticks(range(len(names)), names)
    for t, p in numpy.argwhere(matrix > 0):
        axis.text(p, t, int(matrix[t, p]), ha="center", va="center", color="white" if share[t, p] > 0.5 else "black")
axis.set(xlabel="predicted", ylabel="class", title=f"Held-out images, {100 * numpy.trace(matrix) / matrix.sum():.1f} % right")
figure.savefig(sys.argv[3], dpi=80)
print("picture in", sys.argv[3])
