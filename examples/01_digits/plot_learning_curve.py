#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the history that digits_train wrote: plot_learning_curve.py HISTORY.csv PICTURE.png"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_learning_curve: needs matplotlib (Debian: python3-matplotlib); the history stays as it is.")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
epoch = [int(row["epoch"]) for row in rows]
figure, (losses, accuracy) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
losses.semilogy(epoch, [float(row["training_loss"]) for row in rows], label="training")
losses.semilogy(epoch, [float(row["held_out_loss"]) for row in rows], label="held out")
losses.set(xlabel="epoch", ylabel="cross-entropy per digit", title="Loss")
losses.legend()
accuracy.plot(epoch, [100 * float(row["held_out_accuracy"]) for row in rows], color="tab:orange")
accuracy.axhline(98, color="grey", linewidth=0.8, linestyle="--")
accuracy.set(xlabel="epoch", ylabel="digits recognised in %", title="Held-out accuracy", ylim=(90, 100))
for axes in (losses, accuracy):
    axes.grid(alpha=0.3)
figure.suptitle("Handwritten digits, 8x8 pixels")
figure.savefig(sys.argv[2], dpi=120)
print("learning curve in", sys.argv[2])
