#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch on the workloads of perf/run; speaks the protocol of perf/suite/serve.hpp."""

import argparse
import json
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--workload", required=True)
parser.add_argument("--dtype", required=True)
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--compile", action="store_true")
a = parser.parse_args()

try:
    import torch
except ImportError:
    print("absent: Python has no module torch (Debian: python3-torch)", flush=True)
    sys.exit(0)

torch.set_num_threads(a.threads)
torch.manual_seed(1)
TYPE = {"f32": torch.float32, "bf16": torch.bfloat16}[a.dtype]
nn = torch.nn


def mlp(*widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(),
                         nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def inference(model, batch, width):
    model = model.to(TYPE).eval()
    x = torch.randn(batch, width).to(TYPE)
    with torch.inference_mode():
        exact = model.double()(x[:64].double())
        model.to(TYPE)
        error = float((model(x[:64]).double() - exact).norm() / exact.norm())
    called = torch.compile(model) if a.compile else model

    def call():
        with torch.inference_mode():
            called(x)

    return call, error


def training(model, x, targets, loss):
    model = model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    called = torch.compile(model) if a.compile else model

    def call():
        optimizer.zero_grad(set_to_none=True)
        if a.dtype == "bf16":
            with torch.autocast("cpu", dtype=torch.bfloat16):
                value = loss(called(x), targets)
        else:
            value = loss(called(x), targets)
        value.backward()
        optimizer.step()

    return call, None


def cases():
    if a.workload == "mlp-infer":
        yield "", 65536, inference(mlp(16, 64, 64, 64, 64, 16), 65536, 16)
    elif a.workload == "mlp-infer-64":
        yield "", 65536, inference(mlp(64, 64, 64, 64, 64), 65536, 64)
    elif a.workload == "mlp-train":
        yield "", 16384, training(mlp(16, 64, 64, 64, 64, 16), torch.randn(16384, 16), torch.randn(16384, 16),
                                  nn.functional.mse_loss)
    elif a.workload == "wide-mlp-train":
        yield "", 4096, training(mlp(1024, 1024, 1024, 1024, 1024), torch.randn(4096, 1024),
                                 torch.randn(4096, 1024), nn.functional.mse_loss)
    elif a.workload == "lenet-train":
        x = torch.randn(128, 1, 28, 28).to(memory_format=torch.channels_last)
        yield "", 128, training(lenet().to(memory_format=torch.channels_last), x, torch.randint(10, (128,)),
                                nn.functional.cross_entropy)
    elif a.workload == "mlp-latency":
        for width in (64, 32):
            for batch in (1, 16, 64):
                yield str(width), batch, inference(mlp(*[width] * 5), batch, width)
    elif a.workload == "cell-surrogate":
        count = 1000000
        model = nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 8))
        model = model.to(TYPE).eval()
        fields = [torch.randn(count) for _ in range(24)]
        rates = [torch.empty(count) for _ in range(8)]

        def call():
            with torch.inference_mode():
                y = model(torch.stack(fields, dim=1).to(TYPE))
                for r, rate in enumerate(rates):
                    rate.copy_(y[:, r])

        yield "", count, (call, None)


calls, repeats = [], []
for name, batch, (call, error) in cases():
    for _ in range(3):
        call()
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-8)
    calls.append(call)
    repeats.append(max(1, int(5e-3 / once)))
    facts = {"workload": a.workload, "case": name, "batch": batch, "relative_error": error}
    print(json.dumps(facts), flush=True)
if not calls:
    print(f"absent: PyTorch has no program for {a.workload} here", flush=True)
    sys.exit(0)
print("ready", flush=True)
for line in sys.stdin:
    words = line.split()
    if len(words) != 2 or words[0] != "sample":
        break
    index = int(words[1])
    start = time.perf_counter()
    for _ in range(repeats[index]):
        calls[index]()
    print((time.perf_counter() - start) / repeats[index], flush=True)
