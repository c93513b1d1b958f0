#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the results of diffraction: plot_patterns.py FOLDER NETWORK PICTURE.png

Nine patterns, one for each lattice and element; losses and accuracy over the epochs; and which classes are mistaken. FOLDER
is that of --folder. A linear classifier that was trained there (--report-linear) is drawn too.
"""
import csv
import os
import sys

try:
    import matplotlib
    import numpy
except ImportError:
    sys.exit("plot_patterns: needs matplotlib and numpy (Debian: python3-matplotlib).")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

if len(sys.argv) != 4:
    sys.exit(__doc__)
folder, network, picture = sys.argv[1:]
LATTICES = ("simple cubic", "body-centred", "face-centred")
ELEMENTS = ("Al", "Cu", "Au")
TILTS = (0, 25, 50)  # milliradians


def read_log(name):
    path = os.path.join(folder, name, "log.csv")
    if not os.path.exists(path):
        return None
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {column: [float(row[column]) for row in rows] for column in rows[0]}


patterns = numpy.load(os.path.join(folder, "patterns.npy"), mmap_mode="r")
classes = numpy.load(os.path.join(folder, "classes.npy"))
confusion = numpy.loadtxt(os.path.join(folder, network, "confusion.csv"), delimiter=",")

figure = plt.figure(figsize=(17, 6), layout="constrained")
left, middle, right = figure.subfigures(1, 3, width_ratios=(4.2, 4.6, 6.2))

left.suptitle("convergent-beam patterns, 120 x 85 pixels")
for lattice, row in enumerate(left.subplots(3, 3)):
    for element, axis in enumerate(row):
        tilt = (lattice + element) % 3
        number = int(numpy.argmax(classes == 9 * lattice + 3 * element + tilt))
        axis.imshow(numpy.minimum(patterns[number, 0], 6), cmap="magma")
        axis.set_title(f"{ELEMENTS[element]}, {LATTICES[lattice]}, {TILTS[tilt]} mrad", fontsize=7)
        axis.axis("off")

loss, accuracy = middle.subplots(2, 1)
log, linear = read_log(network), read_log("linear") if network != "linear" else None
epochs = [epoch + 1 for epoch in log["epoch"]]
loss.plot(epochs, log["loss"], label="training", marker=".")
loss.plot(epochs, log["held_out_loss"], label="held out", marker=".")
loss.set(yscale="log", ylabel="cross-entropy", title=network)
accuracy.plot(epochs, [100 * a for a in log["accuracy"]], label="training", marker=".")
accuracy.plot(epochs, [100 * a for a in log["held_out_accuracy"]], label="held out", marker=".")
if linear:
    best = linear["held_out_accuracy"][int(numpy.argmin(linear["held_out_loss"]))]
    accuracy.axhline(100 * best, color="0.5", linestyle="--", label="linear classifier, held out")
accuracy.set(xlabel="epoch", ylabel="accuracy in %", ylim=(0, 101))
for axis in (loss, accuracy):
    axis.legend()
    axis.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))

axis = right.subplots()
share = confusion / numpy.maximum(confusion.sum(axis=1, keepdims=True), 1)
image = axis.imshow(100 * share, cmap="Blues", vmin=0, vmax=100)
right.colorbar(image, ax=axis, label="% of the patterns of a class", shrink=0.8)
ticks = range(1, 27, 3)
names = [f"{ELEMENTS[k // 3 % 3]} {LATTICES[k // 9]}" for k in ticks]
axis.set_xticks(ticks, names, rotation=60, ha="right", fontsize=7)
axis.set_yticks(ticks, names, fontsize=7)
for edge in range(3, 27, 3):
    axis.axhline(edge - 0.5, color="0.85", linewidth=0.5)
    axis.axvline(edge - 0.5, color="0.85", linewidth=0.5)
right_share = 100 * numpy.trace(confusion) / confusion.sum()
axis.set(xlabel="predicted; tilts of 0, 25, 50 mrad side by side", ylabel="true",
         title=f"{right_share:.1f} % of {int(confusion.sum())} held-out patterns right")
figure.savefig(picture, dpi=90)
