#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tests/curves/<network>.txt: what PyTorch computes for the networks of tests/curves.

usage: make_curves.py             write all files (cmake/dev-env --with peers python3 tests/curves/make_curves.py)
       make_curves.py NETWORK...  write some
       make_curves.py --check     compare PyTorch with the files; 77 where there is none

Weights and samples are functions of counters, the same as tests/golden.hpp's, in float64. A file has the length of the
outputs of all batches in evaluation mode and its products with two directions, the same for the gradient of each
parameter tensor in the first step, the losses of 100 steps, and how far outputs, gradients and the first losses are
off in float32. Tensors have Phyllo's order, that of the layers.
"""

import math
import pathlib
import sys

try:
    import numpy
    import torch
except ImportError:
    print("skipped: Python has no module torch (Debian: python3-torch)")
    sys.exit(77)

nn = torch.nn
F = nn.functional
PARAMETERS, INPUTS, TARGETS, DIRECTIONS = 0, 1000, 2000, 3000
# Roundings of float32 grow from step to step: their losses are compared in the first EARLY steps.
SAMPLES, BATCHES, STEPS, EARLY = 4, 4, 100, 20


def counters(stream, count, first=0):
    """Numbers first, first + 1, ... of a stream, uniform in [-1, 1): counter_number of tests/golden.hpp."""
    with numpy.errstate(over="ignore"):
        z = (numpy.uint64(stream << 32) + numpy.arange(first, first + count, dtype=numpy.uint64) + numpy.uint64(1))
        z *= numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return (z >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-52 - 1


def draw(stream, batch, *extents, positive=False):
    count = SAMPLES * math.prod(extents)
    u = counters(stream, count, batch * count)
    return torch.from_numpy(0.5 * u + 0.5 if positive else u).reshape(SAMPLES, *extents)


def draw_integers(stream, batch, count, *extents):
    size = SAMPLES * math.prod(extents)
    u = counters(stream, size, batch * size)
    return torch.from_numpy(((0.5 * u + 0.5) * count).astype(numpy.int64)).reshape(SAMPLES, *extents)


def set_parameters(tensors):
    for number, (name, tensor) in enumerate(tensors):
        u = counters(PARAMETERS + number, tensor.numel())
        inputs = math.prod(tensor.shape[1:])
        width = math.sqrt(6.0 / inputs) if tensor.dim() > 1 else 0.25
        value = 1 + width * u if tensor.dim() == 1 and name.endswith("weight") else width * u
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(value).reshape(tensor.shape))


class Network(nn.Module):
    """Layers in the order in which Phyllo lists their parameters; `forward` is that of a sequence."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Residual(nn.Module):
    def __init__(self, main, shortcut=None):
        super().__init__()
        self.main, self.shortcut = main, shortcut or nn.Identity()

    def forward(self, x):
        return self.main(x) + self.shortcut(x)


def residual(inputs, outputs, stride=1):
    body = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
    shortcut = None
    if stride > 1:
        shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
    return nn.Sequential(Residual(body, shortcut), nn.ReLU())


def double(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.ReLU())


class UNet(Network):
    def __init__(self):
        super().__init__(double(1, 4), double(4, 6), double(6, 8), nn.ConvTranspose2d(8, 6, 2, 2), double(12, 6),
                         nn.ConvTranspose2d(6, 4, 2, 2), double(8, 4), nn.Conv2d(4, 3, 1))

    def forward(self, x):
        down0, down1, bottom, up1, double1, up0, double0, last = self.layers
        first = down0(x)
        second = down1(F.max_pool2d(first, 2))
        y = bottom(F.max_pool2d(second, 2))
        y = double1(torch.cat((up1(y), second), 1))
        y = double0(torch.cat((up0(y), first), 1))
        return last(y)


class Memory(Network):
    def __init__(self):
        super().__init__(nn.LSTM(3, 8, 2, batch_first=True), nn.Linear(8, 4))

    def forward(self, x):
        memory, last = self.layers
        return last(memory(x.transpose(1, 2))[0][:, -1])


class Encoder(Network):
    def __init__(self):
        def layer(feedforward, **options):
            return nn.TransformerEncoderLayer(8, 2, feedforward, dropout=0, batch_first=True, **options)

        super().__init__(nn.Embedding(11, 8), layer(16, activation="gelu", norm_first=True), layer(12), nn.LayerNorm(8),
                         nn.Linear(8, 4))

    def forward(self, x):
        embedding, first, second, norm, last = self.layers
        y = embedding(x)
        t = torch.arange(8, dtype=torch.float64)[:, None]
        angle = t / 10000.0 ** (torch.arange(0, 8, 2, dtype=torch.float64) / 8)
        places = torch.stack((angle.sin(), angle.cos()), 2).flatten(1)
        y = y + places.to(y.dtype)
        y = second(first(y), src_mask=torch.triu(torch.full((8, 8), -math.inf, dtype=y.dtype), 1))
        return last(norm(y).mean(1))


class Spectral(nn.Module):
    """The products with the corners of the spectrum of Li et al., ICLR 2021."""

    def __init__(self, inputs, outputs, *modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.empty(outputs, inputs, 2 * modes[0], modes[1], 2))

    def forward(self, x):
        rows, columns = self.modes
        weight = torch.view_as_complex(self.weight)
        spectrum = torch.fft.rfft2(x)
        whole = spectrum.new_zeros(x.shape[0], weight.shape[0], *spectrum.shape[2:])
        for at, part in ((slice(rows), slice(rows)), (slice(-rows, None), slice(rows, None))):
            whole[:, :, at, :columns] = torch.einsum("nihw,oihw->nohw", spectrum[:, :, at, :columns], weight[:, :, part])
        return torch.fft.irfft2(whole, s=x.shape[2:])


class Fno(Network):
    def __init__(self):
        super().__init__(nn.Conv2d(2, 6, 1), Spectral(6, 6, 3, 2), nn.Conv2d(6, 6, 1), Spectral(6, 5, 2, 4), nn.Conv2d(6, 5, 1),
                         nn.Conv2d(5, 1, 1))

    def forward(self, x):
        lift, first, beside_first, second, beside_second, last = self.layers
        x = lift(x)
        x = F.gelu(first(x) + beside_first(x))
        return last(F.gelu(second(x) + beside_second(x)))


class Graph(Network):
    """Two graph convolutions on a path of six nodes, each with itself and its neighbours."""

    def __init__(self):
        super().__init__(nn.Linear(2, 7), nn.Linear(7, 5), nn.Linear(30, 3))
        adjacent = sum(torch.diag(torch.ones(6 - abs(k), dtype=torch.float64), k) for k in (-1, 0, 1))
        roots = adjacent.sum(1).sqrt()
        self.register_buffer("matrix", adjacent / roots[:, None] / roots)

    def forward(self, x):
        first, second, last = self.layers
        x = torch.tanh(first(self.matrix @ x.mT))
        return last(torch.tanh(second(self.matrix @ x)).mT.flatten(1))


class Cvae(Network):
    def __init__(self):
        super().__init__(nn.Linear(19, 12), nn.Linear(12, 4), nn.Linear(5, 12), nn.Linear(12, 16))

    def forward(self, inputs):
        image, condition, noise = inputs
        encode, parameters, decode, last = self.layers
        code = parameters(torch.tanh(encode(torch.cat((image, condition), 1))))
        mean, log_variance = code.chunk(2, 1)
        z = mean + torch.exp(log_variance / 2) * noise
        return torch.cat((code, last(torch.tanh(decode(torch.cat((z, condition), 1))))), 1)


def cvae_loss(outputs, target):
    mean, log_variance, logits = outputs[:, :2], outputs[:, 2:4], outputs[:, 4:]
    divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1).mean()
    return 16 * F.binary_cross_entropy_with_logits(logits, target) + 0.5 * divergence


def mlp():
    return Network(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 16), nn.GELU(), nn.Linear(16, 5))


def lenet():
    return Network(nn.Conv2d(1, 4, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
                   nn.Flatten(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 10))


def alexnet():
    def response():
        return nn.LocalResponseNorm(5, 0.5, 0.75, 2.0)

    return Network(nn.Conv2d(3, 4, 11, 4, 2), nn.ReLU(), response(), nn.MaxPool2d(3, 2),
                   nn.Conv2d(4, 8, 5, padding=2, groups=2), nn.ReLU(), response(), nn.MaxPool2d(3, 2),
                   nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1, groups=2), nn.ReLU(),
                   nn.Conv2d(8, 6, 3, padding=1, groups=2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Flatten(),
                   nn.Dropout(0), nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0), nn.Linear(16, 16), nn.ReLU(),
                   nn.Linear(16, 10))


def vgg11():
    layers, inputs = [], 3
    for width, pools in ((4, True), (4, True), (6, False), (6, True), (8, False), (8, True), (8, False), (8, True)):
        layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU()] + [nn.MaxPool2d(2)] * pools
        inputs = width
    return Network(*layers, nn.Flatten(), nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0), nn.Linear(16, 16), nn.ReLU(),
                   nn.Dropout(0), nn.Linear(16, 10))


def resnet18():
    return Network(nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                   residual(4, 4), residual(4, 4), residual(4, 6, 2), residual(6, 6), residual(6, 8, 2), residual(8, 8),
                   residual(8, 8, 2), residual(8, 8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))


def in_order(*parts):
    """Sorts parameters by the first of these parts that their names contain."""
    return lambda tensors: sorted(tensors, key=lambda item: next(i for i, part in enumerate(parts) if part in item[0]))


def schedule(kind, *arguments, **options):
    return lambda optimizer: getattr(torch.optim.lr_scheduler, kind)(optimizer, *arguments, **options)


sgd, adam = torch.optim.SGD, torch.optim.Adam
labels = {"loss": F.cross_entropy}
# Network, optimizer, schedule, inputs and targets of a batch; loss; order of the parameters.
CURVES = {
    "mlp": dict(model=mlp, optimizer=lambda p: sgd(p, 0.05, momentum=0.9, nesterov=True),
                schedule=schedule("CosineAnnealingLR", 100), inputs=lambda k: draw(INPUTS, k, 12),
                targets=lambda k: draw_integers(TARGETS, k, 5), **labels),
    "lenet": dict(model=lenet, optimizer=lambda p: sgd(p, 0.05, momentum=0.8, weight_decay=1e-3),
                  schedule=schedule("StepLR", 40, 0.5), inputs=lambda k: draw(INPUTS, k, 1, 16, 16),
                  targets=lambda k: draw_integers(TARGETS, k, 10), **labels),
    "alexnet": dict(model=alexnet, optimizer=lambda p: sgd(p, 0.02, momentum=0.9, weight_decay=5e-4),
                    schedule=schedule("MultiStepLR", [50, 80], 0.1), inputs=lambda k: draw(INPUTS, k, 3, 63, 63),
                    targets=lambda k: draw_integers(TARGETS, k, 10), **labels),
    "vgg11": dict(model=vgg11, optimizer=lambda p: adam(p, 2e-3), schedule=schedule("ExponentialLR", 0.99),
                  inputs=lambda k: draw(INPUTS, k, 3, 32, 32), targets=lambda k: draw_integers(TARGETS, k, 10), **labels),
    "resnet18": dict(model=resnet18, optimizer=lambda p: sgd(p, 0.02, momentum=0.9, weight_decay=1e-4),
                     schedule=schedule("PolynomialLR", 100, 2), inputs=lambda k: draw(INPUTS, k, 3, 40, 40),
                     targets=lambda k: draw_integers(TARGETS, k, 10), **labels),
    "unet": dict(model=UNet, optimizer=lambda p: adam(p, 5e-3),
                 schedule=schedule("OneCycleLR", 5e-3, 100, pct_start=0.31, cycle_momentum=False, div_factor=10,
                                   final_div_factor=10),
                 inputs=lambda k: draw(INPUTS, k, 1, 16, 16), targets=lambda k: draw_integers(TARGETS, k, 3, 16, 16),
                 **labels),
    "lstm": dict(model=Memory, optimizer=lambda p: torch.optim.RMSprop(p, 2e-3, alpha=0.95),
                 schedule=None, inputs=lambda k: draw(INPUTS, k, 3, 10), targets=lambda k: draw(TARGETS, k, 4),
                 loss=F.mse_loss,
                 order=in_order("weight_ih_l0", "bias_ih_l0", "weight_hh_l0", "bias_hh_l0", "weight_ih_l1", "bias_ih_l1",
                                "weight_hh_l1", "bias_hh_l1", "layers.1")),
    "encoder": dict(model=Encoder, optimizer=lambda p: torch.optim.AdamW(p, 3e-3, weight_decay=0.05),
                    schedule=schedule("LinearLR", 1 / 20, 1, 19), inputs=lambda k: draw_integers(INPUTS, k, 11, 8),
                    targets=lambda k: draw_integers(TARGETS, k, 4), **labels,
                    order=in_order("layers.0", "1.norm1", "1.self_attn.in_proj", "1.self_attn.out_proj", "1.norm2",
                                   "1.linear1", "1.linear2", "2.self_attn.in_proj", "2.self_attn.out_proj", "2.norm1",
                                   "2.linear1", "2.linear2", "2.norm2", "layers.3", "layers.4")),
    "fno": dict(model=Fno, optimizer=lambda p: adam(p, 5e-3), schedule=None, inputs=lambda k: draw(INPUTS, k, 2, 8, 7),
                targets=lambda k: draw(TARGETS, k, 1, 8, 7), loss=F.mse_loss),
    "graph": dict(model=Graph, optimizer=lambda p: adam(p, 1e-2), schedule=None, inputs=lambda k: draw(INPUTS, k, 2, 6),
                  targets=lambda k: draw_integers(TARGETS, k, 3), **labels),
    "cvae": dict(model=Cvae, optimizer=lambda p: torch.optim.NAdam(p, 5e-3), schedule=None,
                 inputs=lambda k: [draw(INPUTS, k, 16, positive=True), draw(INPUTS + 1, k, 3), draw(INPUTS + 2, k, 2)],
                 targets=lambda k: draw(INPUTS, k, 16, positive=True), loss=cvae_loss),
}


def to(x, dtype):
    if isinstance(x, list):
        return [to(one, dtype) for one in x]
    return x.to(dtype) if x.dtype == torch.float64 else x


def run(curve, dtype):
    """Outputs, gradients by the order of the parameters, losses."""
    torch.set_default_dtype(dtype)  # of the numbers that NAdam keeps for each step, too
    model = curve["model"]().to(torch.float64)
    tensors = curve.get("order", list)(list(model.named_parameters()))
    set_parameters(tensors)
    model.to(dtype)
    optimizer = curve["optimizer"]([tensor for _, tensor in tensors])
    scheduler = curve["schedule"](optimizer) if curve["schedule"] else None
    model.eval()
    with torch.no_grad():
        output = torch.cat([model(to(curve["inputs"](k), dtype)).double().flatten() for k in range(BATCHES)])
    model.train()
    losses, gradients = [], []
    for step in range(STEPS):
        k = step % BATCHES
        optimizer.zero_grad()
        loss = curve["loss"](model(to(curve["inputs"](k), dtype)), to(curve["targets"](k), dtype))
        loss.backward()
        if step == 0:
            gradients = [tensor.grad.double().flatten().clone() for _, tensor in tensors]
        optimizer.step()
        if scheduler:
            scheduler.step()
        losses.append(loss.double().item())
    return output, gradients, torch.tensor(losses, dtype=torch.float64), [tuple(tensor.shape) for _, tensor in tensors]


def sums(v, number):
    directions = [torch.from_numpy(counters(DIRECTIONS + 2 * number + k, v.numel())) for k in (0, 1)]
    return [v.norm().item()] + [(v * direction).sum().item() for direction in directions]


def distance(a, b):
    return ((a - b).norm() / b.norm()).item()


def rows_of(curve):
    """The numbers of a file by their keys."""
    output, gradients, losses, shapes = run(curve, torch.float64)
    output32, gradients32, losses32, _ = run(curve, torch.float32)
    rows = {"output": sums(output, 1000), "tensors": [len(gradients)]}
    for number, gradient in enumerate(gradients):
        rows[f"shape {number}"] = shapes[number]
        rows[f"gradient {number}"] = sums(gradient, number)
    rows["losses"] = losses.tolist()
    rows["float32"] = [distance(output32, output), distance(torch.cat(gradients32), torch.cat(gradients)),
                       distance(losses32[:EARLY], losses[:EARLY])]
    return rows


def differences(name, rows, path):
    """What a file says otherwise: other processors round other sums, so float32 may differ by a factor."""
    stored = {}
    for text in path.read_text().splitlines()[1:]:
        words = text.split()
        key = " ".join(words[:2]) if words[0] in ("shape", "gradient") else words[0]
        stored[key] = [float(x) for x in words[len(key.split()):]]
    wrong = [] if list(stored) == list(rows) else [f"{name}: other keys"]
    for key, row in rows.items():
        bound = {"losses": 1e-9, "float32": 4}.get(key, 1e-11)
        kept = stored.get(key, [])
        scale = [abs(x) for x in row] if key in ("losses", "float32") else [max(map(abs, row))] * len(row)
        if len(kept) != len(row) or any(abs(a - b) > bound * s for a, b, s in zip(kept, row, scale)):
            wrong.append(f"{name}: {key} is {row}, but the file has {kept}")
    return wrong


def main():
    torch.set_num_threads(1)
    check = sys.argv[1:] == ["--check"]
    wrong = []
    for name in CURVES if check or not sys.argv[1:] else sys.argv[1:]:
        rows = rows_of(CURVES[name])
        path = pathlib.Path(__file__).resolve().parent / f"{name}.txt"
        if check:
            wrong += differences(name, rows, path)
        else:
            lines = [" ".join([key] + [f"{x:.17g}" for x in row]) for key, row in rows.items()]
            path.write_text("\n".join(["# Written by make_curves.py with PyTorch. See there."] + lines) + "\n")
        losses = rows["losses"]
        print(f"{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}, float32 off by "
              + " ".join(f"{x:.1e}" for x in rows["float32"]))
    print("\n".join(wrong) or f"PyTorch {torch.__version__}: {len(CURVES)} curves")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
