#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the fields that mesh wrote: plot_mesh.py FIELDS.csv PICTURE.png"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_mesh: needs matplotlib (Debian: python3-matplotlib).")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

with open(sys.argv[1], newline="") as file:
    rows = list(csv.reader(file))
x, y, conductivity, change, graph, node = zip(*([float(v) for v in row] for row in rows if len(row) == 6))
triangles = [[int(v) for v in row] for row in rows if len(row) == 3]
largest = max(map(abs, change))
figure, axes = plt.subplots(1, 4, figsize=(16, 4), layout="constrained")
for ax, field, title, colours, limit in (
    (axes[0], conductivity, "conductivity", "Greys", None),
    (axes[1], change, "change of an implicit step", "coolwarm", largest),
    (axes[2], [a - b for a, b in zip(graph, change)], "error with the graph", "coolwarm", largest),
    (axes[3], [a - b for a, b in zip(node, change)], "error without the graph", "coolwarm", largest),
):
    limits = {} if limit is None else {"vmin": -limit, "vmax": limit}
    picture = ax.tripcolor(x, y, triangles, field, shading="gouraud", cmap=colours, **limits)
    if limit is None:
        ax.triplot(x, y, triangles, linewidth=0.2, color="tab:blue")
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    figure.colorbar(picture, ax=ax, shrink=0.8)
figure.savefig(sys.argv[2], dpi=120)
print("fields in", sys.argv[2])
