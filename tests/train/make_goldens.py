#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what PyTorch's optimizers and schedules compute in 100 steps, in float64, for train/rules.cpp, tensor_rule.cpp,
schedule.cpp and rate.cpp: torch_rules.txt and torch_schedules.txt.

usage: make_goldens.py           write both (cmake/dev-env --with peers python3 tests/train/make_goldens.py)
       make_goldens.py --check   compare PyTorch with the files; 77 where there is none

Gradients and losses are functions of counters, those of tests/golden.hpp.
"""

import pathlib
import sys

try:
    import torch
except ImportError:
    print("skipped: Python has no module torch (Debian: python3-torch)")
    sys.exit(77)

PARAMETERS, STEPS = 5, 100
KEPT = (1, 2, 3, 5, 10, 20, 50, 100)
FROZEN = (*range(1, 4), *range(16, 20))  # steps without a gradient, of the rules' rows frozen_*
FOLDER = pathlib.Path(__file__).resolve().parent
O, S = torch.optim, torch.optim.lr_scheduler


def counter_number(stream, i):
    """Number i of a stream, uniform in [-1, 1)."""
    mask = (1 << 64) - 1
    z = ((stream << 32) + i + 1) * 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    z ^= z >> 31
    return (z >> 11) * 2.0**-52 - 1


RULES = {
    "sgd": lambda p: O.SGD(p, 0.1),
    "sgd_nesterov": lambda p: O.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.02),
    "sgd_dampening": lambda p: O.SGD(p, 0.1, momentum=0.8, dampening=0.3, weight_decay=0.01),
    "sgd_dampening_alone": lambda p: O.SGD(p, 0.1, dampening=0.3),
    "adam": lambda p: O.Adam(p, 0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
    "adamw": lambda p: O.AdamW(p, 0.02, weight_decay=0.2),
    "amsgrad": lambda p: O.Adam(p, 0.02, betas=(0.9, 0.95), weight_decay=0.1, amsgrad=True),
    "nadam": lambda p: O.NAdam(p, 0.02, betas=(0.9, 0.99), weight_decay=0.1, momentum_decay=0.04),
    "rms_prop": lambda p: O.RMSprop(p, 0.01, alpha=0.9, eps=1e-6, weight_decay=0.05),
    "rms_prop_momentum": lambda p: O.RMSprop(p, 0.01, alpha=0.9, momentum=0.8, weight_decay=0.1),
    "adagrad": lambda p: O.Adagrad(p, 0.2, lr_decay=0.05, weight_decay=0.1, eps=1e-8),
}


def warm_up(o, steps):
    return S.LinearLR(o, 1 / steps, 1, steps - 1)


SCHEDULES = {
    "constant_warm_up": lambda o: warm_up(o, 20),
    "step": lambda o: S.StepLR(o, 15, 0.6),
    "step_warm_up": lambda o: S.ChainedScheduler([warm_up(o, 10), S.StepLR(o, 15, 0.6)]),
    "multi_step": lambda o: S.MultiStepLR(o, [10, 45, 46, 90], 0.3),
    "exponential": lambda o: S.ExponentialLR(o, 0.95),
    "polynomial": lambda o: S.PolynomialLR(o, 80, 1.7),
    "linear": lambda o: S.LinearLR(o, 1, 0.2, 60),
    "cosine": lambda o: S.CosineAnnealingLR(o, 100, 0.01 * RATE),
    "cosine_warm_up": lambda o: S.SequentialLR(o, [warm_up(o, 10), S.CosineAnnealingLR(o, 90, 0.1 * RATE)], [10]),
    "cosine_restarts": lambda o: S.CosineAnnealingWarmRestarts(o, 12, 2, 0.05 * RATE),
    "one_cycle": lambda o: S.OneCycleLR(o, RATE, 100, 0.3, cycle_momentum=False, div_factor=20, final_div_factor=100),
    "chained": lambda o: S.ChainedScheduler([S.ExponentialLR(o, 0.98), S.LinearLR(o, 1, 0.3, 50)]),
    "sequential": lambda o: S.SequentialLR(o, [S.StepLR(o, 7, 0.5), S.ExponentialLR(o, 0.9)], [40]),
}
RATE = 0.3
PLATEAUS = {
    "plateau": dict(factor=0.5, patience=3),
    "plateau_cooldown": dict(factor=0.3, patience=2, threshold=1e-2, cooldown=4, min_lr=1e-3),
}


def run_rule(make, frozen=()):
    w = torch.tensor([1 - 0.5 * i for i in range(PARAMETERS)], requires_grad=True)
    optimizer = make([w])
    kept = []
    for t in range(1, STEPS + 1):
        gradient = torch.tensor([counter_number(t, i) + 0.3 for i in range(PARAMETERS)])
        w.grad = None if t in frozen else gradient
        optimizer.step()
        if t in KEPT:
            kept += w.tolist()
    return kept


def run_schedule(make):
    optimizer = O.SGD([torch.zeros(1, requires_grad=True)], RATE)
    scheduler = make(optimizer)
    rates = []
    for _ in range(STEPS):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        scheduler.step()
    return rates


def run_plateau(options):
    optimizer = O.SGD([torch.zeros(1, requires_grad=True)], RATE)
    scheduler = S.ReduceLROnPlateau(optimizer, **options)
    rates = []
    for t in range(STEPS):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        scheduler.step(plateau_loss(t))
    return rates


def plateau_loss(t):
    """Falls, stays and falls again, with noise."""
    return 2.0 / (1 + min(t, 25) + max(t - 70, 0)) + 0.01 * counter_number(500, t)


def main():
    torch.set_default_dtype(torch.float64)
    files = {
        "torch_rules.txt": {**{name: run_rule(make) for name, make in RULES.items()},
                            **{f"frozen_{name}": run_rule(make, FROZEN) for name, make in RULES.items()}},
        "torch_schedules.txt": {**{name: run_schedule(make) for name, make in SCHEDULES.items()},
                                **{name: run_plateau(options) for name, options in PLATEAUS.items()}},
    }
    wrong = []
    for file, rows in files.items():
        lines = ["# Written by make_goldens.py with PyTorch. See there."]
        lines += [" ".join([name] + [f"{x:.17g}" for x in row]) for name, row in rows.items()]
        if sys.argv[1:] != ["--check"]:
            (FOLDER / file).write_text("\n".join(lines) + "\n")
            continue
        stored = {line.split()[0]: [float(x) for x in line.split()[1:]]
                  for line in (FOLDER / file).read_text().splitlines()[1:]}
        for name, row in rows.items():
            kept = stored.pop(name, [])
            if len(kept) != len(row) or any(abs(a - b) > 1e-13 * (1 + abs(b)) for a, b in zip(kept, row)):
                wrong.append(f"{file}: {name} is not what PyTorch {torch.__version__} computes")
        wrong += [f"{file}: {name} is unknown" for name in stored]
    print("\n".join(wrong) or f"{sum(map(len, files.values()))} rules and schedules of PyTorch {torch.__version__}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
