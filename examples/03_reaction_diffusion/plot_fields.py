#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the fields that reaction_diffusion wrote: plot_fields.py FIELDS.csv PICTURE.png"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_fields: needs matplotlib (Debian: python3-matplotlib).")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

with open(sys.argv[1], newline="") as file:
    rows = [[float(x) for x in row] for row in csv.reader(file)]
cells = len(rows[0])
truth, coupled = rows[:cells], rows[cells:]
difference = [[b - a for a, b in zip(*pair)] for pair in zip(truth, coupled)]
largest = max(max(row) for row in truth)
figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, field, title, low, colours in (
    (axes[0], truth, "v, true source", 0, "viridis"),
    (axes[1], coupled, "v, network in the stencil", 0, "viridis"),
    (axes[2], difference, "difference", -largest, "coolwarm"),
):
    picture = ax.imshow(field, vmin=low, vmax=largest, cmap=colours)
    ax.set(title=title, xticks=[], yticks=[])
    figure.colorbar(picture, ax=ax, shrink=0.8)
figure.savefig(sys.argv[2], dpi=120)
print("fields in", sys.argv[2])
