#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's DistributedDataParallel on two processes of one core each; speaks to perf/communication."""

import argparse
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time

RANKS = 2


def cases(torch):
    """What is trained: model, inputs, targets and loss for a batch of n."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "suite/peers"))
    sys.dont_write_bytecode = True
    from torch_networks import lenet, mlp, resnet18

    images = {"memory_format": torch.channels_last}
    cross_entropy, mean_squared_error = torch.nn.functional.cross_entropy, torch.nn.functional.mse_loss
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
    model, x, targets, loss = cases(torch)[network](batch)
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
