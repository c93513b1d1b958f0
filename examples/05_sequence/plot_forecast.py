#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the forecast that forecast_lorenz96 wrote: plot_forecast.py FORECAST.csv PICTURE.png"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_forecast: needs matplotlib (Debian: python3-matplotlib).")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

INTERVAL = 0.05  # lorenz96::interval
with open(sys.argv[1], newline="") as file:
    rows = [[float(x) for x in row] for row in csv.reader(file)]
times = len(rows) // 3
truth, recurrent, attentive = rows[:times], rows[times:2 * times], rows[2 * times:]
largest = max(abs(x) for row in truth for x in row)
figure, axes = plt.subplots(5, 1, figsize=(9, 8), layout="constrained", sharex=True)


def draw(ax, field, title):
    extent = (0, times * INTERVAL, len(field[0]) - 0.5, -0.5)
    picture = ax.imshow([list(column) for column in zip(*field)], aspect="auto", extent=extent, cmap="RdBu_r",
                        vmin=-largest, vmax=largest)
    ax.set(title=title, ylabel="site")
    return picture


def difference(field):
    return [[a - b for a, b in zip(*pair)] for pair in zip(field, truth)]


picture = draw(axes[0], truth, "Lorenz-96, truth")
draw(axes[1], recurrent, "LSTM, its forecasts fed back")
draw(axes[2], difference(recurrent), "LSTM - truth")
draw(axes[3], attentive, "Transformer, its forecasts fed back")
draw(axes[4], difference(attentive), "Transformer - truth")
axes[4].set(xlabel="time since the forecast began")
figure.colorbar(picture, ax=axes, shrink=0.6)
figure.savefig(sys.argv[2], dpi=100)
print("forecast in", sys.argv[2])
