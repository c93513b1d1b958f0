#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the vorticity of the runs, and their errors: plot_fields.py FIELDS.csv ERRORS.csv PICTURE.png

in_situ writes FIELDS.csv with --fields, and errors.csv in its --folder.
"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_fields: needs matplotlib (Debian: python3-matplotlib).")
matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def vorticity(rows):
    """d(velocity y)/dx - d(velocity x)/dy of rows of h, m_x, m_y, by central differences; x counts rows."""
    n = len(rows)
    cells = [[[float(x) for x in row[3 * j:3 * j + 3]] for j in range(n)] for row in rows]
    x = [[m_x / h for h, m_x, _ in row] for row in cells]
    y = [[m_y / h for h, _, m_y in row] for row in cells]
    return [[(y[(i + 1) % n][j] - y[i - 1][j] - x[i][(j + 1) % n] + x[i][j - 1]) * n / 2 for j in range(n)]
            for i in range(n)]


rows = read(sys.argv[1])
n = len(rows) // 3
fields = [vorticity(rows[k * n:(k + 1) * n]) for k in range(3)]
largest = max(abs(x) for row in fields[0] for x in row)
figure, axes = plt.subplots(1, 4, figsize=(15, 3.8), layout="constrained")
titles = "fine grid, averaged", "coarse grid", "coarse grid with the network"
for ax, field, title in zip(axes, fields, titles):
    picture = ax.imshow(field, vmin=-largest, vmax=largest, cmap="RdBu_r")
    ax.set(title=title, xticks=[], yticks=[])
figure.colorbar(picture, ax=axes[2], shrink=0.8, label="vorticity")
errors = read(sys.argv[2])[1:]
for column, label in ((1, "coarse grid"), (2, "with the network")):
    axes[3].plot([float(row[0]) for row in errors], [float(row[column]) for row in errors], "o-", label=label)
axes[3].set(xlabel="time", title="relative error of the momentum", ylim=(0, None))
axes[3].legend()
figure.savefig(sys.argv[3], dpi=100)
print("fields in", sys.argv[3])
