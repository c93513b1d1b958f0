#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's DistributedDataParallel on two processes of one core each; speaks to perf/communication."""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time

RANKS = 2


def networks(torch):
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

    class Block(nn.Module):
        def __init__(self, inputs, width, step):
            super().__init__()
            self.main = nn.Sequential(nn.Conv2d(inputs, width, 3, step, 1, bias=False), nn.BatchNorm2d(width),
                                      nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1, bias=False),
                                      nn.BatchNorm2d(width))
            same = step == 1 and inputs == width
            self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, width, 1, step, bias=False),
                                                                     nn.BatchNorm2d(width))

        def forward(self, x):
            return torch.relu(self.main(x) + self.shortcut(x))

    def resnet18():
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        inputs = 64
        for width, step in ((64, 1), (128, 2), (256, 2), (512, 2)):
            layers += [Block(inputs, width, step), Block(width, width, 1)]
            inputs = width
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))

    images = {"memory_format": torch.channels_last}
    cross_entropy, mean_squared_error = nn.functional.cross_entropy, nn.functional.mse_loss
    return {
        "mlp": lambda n: (mlp(16, 64, 64, 64, 64, 16), torch.randn(n, 16), torch.randn(n, 16), mean_squared_error),
        "lenet": lambda n: (lenet().to(**images), torch.randn(n, 1, 28, 28).to(**images),
                            torch.randint(10, (n,)), cross_entropy),
        "wide-mlp": lambda n: (mlp(*[1024] * 5), torch.randn(n, 1024), torch.randn(n, 1024), mean_squared_error),
        "resnet18": lambda n: (resnet18().to(**images), torch.randn(n, 3, 224, 224).to(**images),
                               torch.randint(1000, (n,)), cross_entropy),
    }


def train(rank, core, store, network, batch, pipe):
    os.sched_setaffinity(0, {core})
    import torch
    import torch.distributed as distributed

    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=RANKS)
    torch.manual_seed(1)
    model, x, targets, loss = networks(torch)[network](batch)
    parameters = sum(p.numel() for p in model.parameters())
    model = torch.nn.parallel.DistributedDataParallel(model.train(), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(model(x), targets).backward()
        optimizer.step()

    def seconds_of(repeat):
        distributed.barrier()
        start = time.perf_counter()
        for _ in range(repeat):
            step()
        own = torch.tensor([(time.perf_counter() - start) / repeat], dtype=torch.float64)
        distributed.all_reduce(own, op=distributed.ReduceOp.MAX)
        return float(own)

    for _ in range(3):
        step()
    repeat = max(1, int(20e-3 / seconds_of(1)))
    pipe.send(parameters)
    while pipe.recv():
        step()
        pipe.send(seconds_of(repeat))
    distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", required=True)
    parser.add_argument("--batch", type=int, required=True)
    a = parser.parse_args()
    # A process is bound to its core here; OpenMP would bind this one, and with it all that it starts.
    cores = sorted(os.sched_getaffinity(0))
    for variable in ("OMP_PROC_BIND", "OMP_PLACES"):
        os.environ.pop(variable, None)
    try:
        import torch
        found = torch.distributed.is_available() and torch.distributed.is_gloo_available()
    except ImportError:
        found = False
    if not found:
        print("absent: Python has no module torch with gloo (Debian: python3-torch)", flush=True)
        return
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ends, processes = [], []
        for rank in range(RANKS):
            end, other = context.Pipe()
            process = context.Process(target=train, daemon=True,
                                      args=(rank, cores[rank % len(cores)], folder + "/store", a.network, a.batch,
                                            other))
            process.start()
            other.close()
            ends.append(end)
            processes.append(process)
        parameters = [end.recv() for end in ends][0]
        print(json.dumps({"workload": "step", "case": "", "batch": a.batch, "ranks": RANKS,
                          "parameters": parameters, "version": torch.__version__}))
        print("ready", flush=True)
        for line in sys.stdin:
            if not line.startswith("sample"):
                break
            for end in ends:
                end.send(True)
            print([end.recv() for end in ends][0], flush=True)
        for end in ends:
            end.send(False)
        for process in processes:
            process.join(20)


if __name__ == "__main__":
    main()
