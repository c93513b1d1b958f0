#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the latent numbers that protein_folding wrote: plot_latent_space.py LATENT.csv PICTURE.png"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_latent_space: needs matplotlib (Debian: python3-matplotlib).")
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy

with open(sys.argv[1], newline="") as file:
    rows = [[float(x) for x in row.values()] for row in csv.DictReader(file)]
fraction, *z = zip(*rows)
# Along the direction in which the latent numbers differ least, nothing hides behind something else.
least = numpy.linalg.eigh(numpy.cov(z))[1][:, 0]
figure = plt.figure(figsize=(11, 5), layout="constrained")
axes = figure.add_subplot(1, 2, 1, projection="3d")
points = axes.scatter(*z, c=fraction, s=4, cmap="viridis")
axes.set(xlabel="$z_1$", ylabel="$z_2$", zlabel="$z_3$", title="latent numbers of the contact maps")
axes.set_box_aspect(numpy.ptp(z, axis=1))
axes.view_init(elev=numpy.degrees(numpy.arcsin(least[2])), azim=numpy.degrees(numpy.arctan2(least[1], least[0])))
figure.colorbar(points, ax=axes, label="fraction of native contacts", shrink=0.7, pad=0.12)
axes = figure.add_subplot(1, 2, 2)
axes.hist(fraction, bins=40, color="0.5")
axes.set(xlabel="fraction of native contacts", ylabel="contact maps", title="folded and unfolded states")
figure.savefig(sys.argv[2], dpi=100)
