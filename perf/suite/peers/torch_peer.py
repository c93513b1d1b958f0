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
parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="cuda: also AMD's devices")
parser.add_argument("--graph", action="store_true", help="calls recorded as a graph of the device, and replayed")
a = parser.parse_args()

try:
    import torch
except ImportError:
    print("absent: Python has no module torch (Debian: python3-torch)", flush=True)
    sys.exit(0)

sys.dont_write_bytecode = True
from torch_networks import (ContactMapAutoencoder, LstmForecast, TwoHeadLeNet, UNet, alexnet, encoder, lenet, mlp,  # noqa: E402
                            resnet50, vgg16)

if a.device == "cuda" and not torch.cuda.is_available():
    print("absent: this PyTorch sees no device", flush=True)
    sys.exit(0)
DEVICE = a.device == "cuda"
if DEVICE:
    # What is made from here on, is made there.
    torch.set_default_device("cuda")
else:
    torch.set_num_threads(a.threads)
torch.manual_seed(1)
TYPE = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[a.dtype]
nn = torch.nn


def on(processors, devices):
    """Of a workload's two batches the one for this machine."""
    return devices if DEVICE else processors


def wait():
    if DEVICE:
        torch.cuda.synchronize()


def recorded(call):
    """The call as one graph of the device, after what it does once has been done on another stream."""
    if not a.graph:
        return call
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def inference(model, batch, *extents):
    model = model.to(TYPE).eval()
    x = torch.randn(batch, *extents).to(TYPE)
    with torch.inference_mode():
        exact = model.double()(x[:64].double())
        model.to(TYPE)
        error = float((model(x[:64]).double() - exact).norm() / exact.norm())
    called = torch.compile(model) if a.compile else model

    def call():
        with torch.inference_mode():
            called(x)

    return recorded(call), error


def first_samples(tensors, count):
    return tuple(t[:count] for t in tensors) if isinstance(tensors, tuple) else tensors[:count]


def kept_bytes(model, x, targets, loss):
    """What stays in memory for the backward pass: bytes that one more sample adds."""

    def of_samples(count):
        storages = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
            return tensor

        # The same samples in memory of their own: a part of x has the storage of all.
        part, labels = first_samples(x, count).clone(memory_format=torch.preserve_format), first_samples(targets, count)
        with torch.autocast(a.device, dtype=TYPE, enabled=a.dtype != "f32"), \
                torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            value = loss(model(part), labels)
        del value
        return sum(storages.values())

    half = len(x) // 2
    return (of_samples(2 * half) - of_samples(half)) / half


def training(model, x, targets, loss):
    model = model.train()
    kept = None if a.compile else kept_bytes(model, x, targets, loss)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    called = torch.compile(model) if a.compile else model

    # The step that is compared finds no overflow: a constant scale, and no host that asks.
    scale = 128.0 if a.dtype == "f16" else 1.0

    def call():
        optimizer.zero_grad(set_to_none=True)
        if a.dtype in ("bf16", "f16"):
            with torch.autocast(a.device, dtype=TYPE):
                value = loss(called(x), targets)
        else:
            value = loss(called(x), targets)
        (value * scale if scale != 1 else value).backward()
        if scale != 1:
            torch._foreach_mul_([p.grad for p in model.parameters()], 1 / scale)
        optimizer.step()

    return recorded(call), None, kept


def digit_and_position(y, targets):
    return nn.functional.cross_entropy(y[0], targets[0]) + nn.functional.mse_loss(y[1], targets[1])


def evidence_bound(y, maps):
    reconstruction, mean, log_variance = y
    divergence = 0.5 * (mean * mean + log_variance.exp() - 1 - log_variance).sum(1).mean()
    return nn.functional.binary_cross_entropy_with_logits(reconstruction, maps) + divergence / 784


def softmax_head(rows, classes):
    """Cross-entropy of logits in memory, forward and backward."""
    z = (4 * torch.rand(rows, classes) - 2).to(TYPE).requires_grad_()
    labels = torch.randint(classes, (rows,))

    def head(z, labels):
        return nn.functional.cross_entropy(z, labels, reduction="sum")

    called = torch.compile(head) if a.compile else head

    def call():
        z.grad = None
        called(z, labels).backward()

    call()
    few = z.detach()[:16].double().requires_grad_()
    nn.functional.cross_entropy(few, labels[:16], reduction="sum").backward()
    error = float((z.grad[:16].double() - few.grad).norm() / few.grad.norm())
    return recorded(call), error


def convolution(channels, extent, outputs, size, stride, batch, gradient, padding=None, dilation=1, groups=1,
                transposed=False):
    """One pass of a convolution: forward, or one of its gradients; channels last."""
    last = {"memory_format": torch.channels_last}
    padding = size // 2 if padding is None else padding
    x = torch.randn(batch, channels, extent, extent).to(TYPE).to(**last)
    sides = (channels, outputs // groups) if transposed else (outputs, channels // groups)
    weight = torch.randn(*sides, size, size).to(TYPE).to(**last)
    options = [stride, stride], [padding, padding], [dilation, dilation], transposed, [0, 0], groups

    def run(x, weight, d_y):
        if gradient is None:
            return torch.ops.aten.convolution(x, weight, None, *options)
        mask = [gradient == "input", gradient == "weight", False]
        return torch.ops.aten.convolution_backward(d_y, x, weight, None, *options, mask)[mask.index(True)]

    with torch.inference_mode():
        d_y = torch.randn_like(torch.ops.aten.convolution(x, weight, None, *options)).to(**last)
        exact = run(x.double(), weight.double(), d_y.double())
        error = float((run(x, weight, d_y).double() - exact).norm() / exact.norm())

    def call():
        with torch.inference_mode():
            run(x, weight, d_y)

    return call, error


def optimizer_step(size):
    """Unscale, clip by the global norm, Adam on float parameters, rounded to what a network reads."""
    parameter = nn.Parameter(torch.rand(size) - 0.5)
    parameter.grad = 2 * torch.rand(size) - 1
    gradient = parameter.grad.clone()
    try:
        optimizer = torch.optim.Adam([parameter], lr=1e-3, fused=True, capturable=DEVICE)
        optimizer.step()
    except RuntimeError:
        optimizer = torch.optim.Adam([parameter], lr=1e-3, foreach=True, capturable=DEVICE)
    working = torch.empty(size, dtype=TYPE) if a.dtype != "f32" else None

    def call():
        # The gradient stays as it was clipped first: no network writes another one here.
        parameter.grad.mul_(1.0)
        nn.utils.clip_grad_norm_([parameter], 0.5, foreach=True)
        optimizer.step()
        if working is not None:
            working.copy_(parameter.detach())

    before = parameter.detach().clone()
    optimizer.state.clear()
    parameter.grad.copy_(gradient)
    call()
    clipped = gradient.double() * min(1.0, 0.5 / (float(gradient.double().norm()) + 1e-6))
    exact = before.double() - 1e-3 * clipped / (clipped.abs() + 1e-8)
    error = float((parameter.detach().double() - exact).norm() / exact.norm())
    return recorded(call), error


def cases():
    if a.workload == "mlp-infer":
        batch = on(65536, 1 << 20)
        yield "", batch, inference(mlp(16, 64, 64, 64, 64, 16), batch, 16)
    elif a.workload == "mlp-infer-64":
        batch = on(65536, 1 << 20)
        yield "", batch, inference(mlp(64, 64, 64, 64, 64), batch, 64)
    elif a.workload == "mlp-train":
        batch = on(16384, 1 << 18)
        yield "", batch, training(mlp(16, 64, 64, 64, 64, 16), torch.randn(batch, 16), torch.randn(batch, 16),
                                  nn.functional.mse_loss)
    elif a.workload == "batchnorm-mlp-train":
        batch = on(16384, 1 << 18)
        yield "", batch, training(mlp(16, 64, 64, 64, 64, 16, normalization=nn.BatchNorm1d), torch.randn(batch, 16),
                                  torch.randn(batch, 16), nn.functional.mse_loss)
    elif a.workload == "layernorm-mlp-train":
        batch = on(16384, 1 << 18)
        yield "", batch, training(mlp(16, 64, 64, 64, 64, 16, normalization=nn.LayerNorm), torch.randn(batch, 16),
                                  torch.randn(batch, 16), nn.functional.mse_loss)
    elif a.workload == "lstm-train":
        batch = on(256, 16384)
        yield "", batch, training(LstmForecast(), torch.randn(batch, 64, 32), torch.randn(batch, 8), nn.functional.mse_loss)
    elif a.workload == "attention-train":
        batch = on(64, 512)
        yield "", batch, training(encoder(1), torch.randn(batch, 128, 64), torch.randn(batch, 128, 64),
                                  nn.functional.mse_loss)
    elif a.workload == "transformer-infer":
        for batch in (1, on(64, 512)):
            yield "", batch, inference(encoder(6), batch, 128, 64)
    elif a.workload == "wide-mlp-train":
        batch = on(4096, 16384)
        yield "", batch, training(mlp(1024, 1024, 1024, 1024, 1024), torch.randn(batch, 1024),
                                  torch.randn(batch, 1024), nn.functional.mse_loss)
    elif a.workload == "lenet-train":
        batch = on(128, 4096)
        x = torch.randn(batch, 1, 28, 28).to(memory_format=torch.channels_last)
        yield "", batch, training(lenet().to(memory_format=torch.channels_last), x, torch.randint(10, (batch,)),
                                  nn.functional.cross_entropy)
    elif a.workload in ("resnet50-train", "vgg16-train", "alexnet-train"):
        batch = on(8, 256)
        network = {"resnet50-train": resnet50, "vgg16-train": vgg16, "alexnet-train": alexnet}[a.workload](1, 27)
        x = torch.randn(batch, 1, 120, 85).to(memory_format=torch.channels_last)
        yield "", batch, training(network.to(memory_format=torch.channels_last), x, torch.randint(27, (batch,)),
                                  nn.functional.cross_entropy)
    elif a.workload == "cvae-train":
        batch = on(32, 1024)
        x = (torch.rand(batch, 1, 28, 28) < 0.2).float().to(memory_format=torch.channels_last)
        yield "", batch, training(ContactMapAutoencoder().to(memory_format=torch.channels_last), x, x, evidence_bound)
    elif a.workload == "segment-train":
        batch = on(4, 64)
        x = torch.randn(batch, 16, 128, 128).to(memory_format=torch.channels_last)
        yield "", batch, training(UNet(16, (32, 64, 128), 3).to(memory_format=torch.channels_last), x,
                                  torch.randint(3, (batch, 128, 128)), nn.functional.cross_entropy)
    elif a.workload == "trunk-head-train":
        batch = on(128, 4096)
        x = torch.randn(batch, 1, 28, 28).to(memory_format=torch.channels_last)
        yield "", batch, training(TwoHeadLeNet().to(memory_format=torch.channels_last), x,
                                  (torch.randint(10, (batch,)), torch.randn(batch, 2)), digit_and_position)
    elif a.workload == "softmax-head" and (DEVICE or not a.compile):
        for rows, classes in ((4096, 10), (512, 32768)):
            yield f"{classes} classes", rows, softmax_head(rows, classes)
    elif a.workload == "convolution" and not a.compile:
        for channels, extent, outputs, size, stride in (
                (3, 224, 64, 7, 2), (64, 56, 64, 3, 1), (64, 56, 128, 3, 2), (64, 56, 128, 1, 2),
                (128, 28, 128, 3, 1), (128, 28, 256, 3, 2), (128, 28, 256, 1, 2), (256, 14, 256, 3, 1),
                (256, 14, 512, 3, 2), (256, 14, 512, 1, 2), (512, 7, 512, 3, 1)):
            name = f"{extent}x{extent}x{channels} {size}x{size}" + (f"s{stride}" if stride > 1 else "")
            for gradient in (None, "input", "weight"):
                if gradient == "input" and channels == 3:
                    continue  # nothing is trained before it
                for batch in (2, 16):
                    case = f"{name} {gradient} gradient" if gradient else f"{name} forward"
                    yield case, batch, convolution(channels, extent, outputs, size, stride, batch, gradient)
    elif a.workload == "general-convolution" and not a.compile:
        for name, channels, extent, outputs, size, stride, padding, dilation, groups, batch, transposed in (
                ("depthwise 3x3, 56x56x144", 144, 56, 144, 3, 1, 1, 1, 144, 8, False),
                ("depthwise 3x3s2, 56x56x144", 144, 56, 144, 3, 2, 1, 1, 144, 8, False),
                ("depthwise 3x3, 14x14x576", 576, 14, 576, 3, 1, 1, 1, 576, 16, False),
                ("depthwise 7x7, 28x28x192", 192, 28, 192, 7, 1, 3, 1, 192, 8, False),
                ("depthwise 3x3 rate 2, 33x33x728", 728, 33, 728, 3, 1, 2, 2, 728, 2, False),
                ("32 groups 3x3, 56x56x128", 128, 56, 128, 3, 1, 1, 1, 32, 4, False),
                ("32 groups 3x3, 14x14x512", 512, 14, 512, 3, 1, 1, 1, 32, 8, False),
                ("3x3 rate 6, 33x33x2048 to 256", 2048, 33, 256, 3, 1, 6, 6, 1, 1, False),
                ("3x3 rate 12, 33x33x2048 to 256", 2048, 33, 256, 3, 1, 12, 12, 1, 1, False),
                ("3x3 rate 18, 33x33x2048 to 256", 2048, 33, 256, 3, 1, 18, 18, 1, 1, False),
                ("transposed 4x4s2, 7x7x128 to 64", 128, 7, 64, 4, 2, 1, 1, 1, 64, True),
                ("transposed 4x4s2, 14x14x64 to 32", 64, 14, 32, 4, 2, 1, 1, 1, 64, True),
                ("transposed 3x3, 28x28x32 to 32", 32, 28, 32, 3, 1, 1, 1, 1, 64, True)):
            for gradient in (None, "input", "weight"):
                yield f"{name} {gradient + ' gradient' if gradient else 'forward'}", batch, convolution(
                    channels, extent, outputs, size, stride, batch, gradient, padding, dilation, groups, transposed)
    elif a.workload.startswith("layers-") and not a.compile and not DEVICE:
        from torch_layers import cases as layer_cases
        for name, batch, call in layer_cases(a.workload, TYPE):
            yield name, batch, (call, None)
    elif a.workload == "optimizer-step" and not a.compile:
        for size in (25568192, 49968):
            yield "", size, optimizer_step(size)
    elif a.workload == "linear-infer":
        for width in (64, 128, 256, 512, 1024, 2048):
            yield str(width), 2048, inference(mlp(width, width), 2048, width)
    elif a.workload == "mlp-latency":
        for width in (64, 32):
            for batch in (1, 16, 64):
                yield str(width), batch, inference(mlp(*[width] * 5), batch, width)
    elif a.workload == "lstm-cell":
        count = 100000
        cell = nn.LSTMCell(32, 32).to(TYPE).eval()
        cell = torch.compile(cell) if a.compile else cell
        h, c, x = (torch.randn(count, 32).to(TYPE) for _ in range(3))

        def advance():
            with torch.inference_mode():
                cell(x, (h, c))

        yield "", count, (recorded(advance), None)
    elif a.workload == "cell-surrogate":
        count = 1000000
        model = nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 8))
        model = model.to(TYPE).eval()
        model = torch.compile(model) if a.compile else model
        fields = [torch.randn(count) for _ in range(24)]
        rates = [torch.empty(count) for _ in range(8)]

        def call():
            with torch.inference_mode():
                y = model(torch.stack(fields, dim=1).to(TYPE))
                for r, rate in enumerate(rates):
                    rate.copy_(y[:, r])

        yield "", count, (recorded(call), None)


calls, repeats = [], []
for name, batch, (call, error, *kept) in cases():
    for _ in range(3):
        call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    once = max(time.perf_counter() - start, 1e-8)
    calls.append(call)
    repeats.append(max(1, int(5e-3 / once)))
    facts = {"workload": a.workload, "case": name, "batch": batch, "relative_error": error,
             "kept_bytes_per_sample": kept[0] if kept else None}
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
    calls[index]()  # threads wake and caches fill
    wait()
    start = time.perf_counter()
    for _ in range(repeats[index]):
        calls[index]()
        wait()  # as every call of ours is waited for
    print((time.perf_counter() - start) / repeats[index], flush=True)
