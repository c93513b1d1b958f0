# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's layers, losses and optimizers one by one, by the names that the programs layers_*.cpp give their cases."""

import time

import torch

nn, functional = torch.nn, torch.nn.functional


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class FirstOutput(nn.Module):
    """The sequence that a recurrent layer returns, without its last states."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class SelfAttention(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.layer = nn.MultiheadAttention(channels, heads, batch_first=True)

    def forward(self, x):
        return self.layer(x, x, x, need_weights=False)[0]


class PoolAndBack(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.back = nn.MaxUnpool2d(2)

    def forward(self, x):
        return self.back(*self.pool(x))


class SpectralConv2d(nn.Module):
    """The layer of Li et al., Fourier neural operator for parametric partial differential equations, 2021."""

    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        weight = torch.randn(2, channels, channels, modes, modes, dtype=torch.cfloat) / channels
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        n, m = x.shape[-1], self.modes
        there = torch.fft.rfft2(x)
        out = torch.zeros_like(there)
        out[:, :, :m, :m] = torch.einsum("nixy,ioxy->noxy", there[:, :, :m, :m], self.weight[0])
        out[:, :, -m:, :m] = torch.einsum("nixy,ioxy->noxy", there[:, :, -m:, :m], self.weight[1])
        return torch.fft.irfft2(out, s=(n, n))


class GraphConvolution(nn.Module):
    """The samples as nodes of a mesh of triangles with rows of 64: each and its six neighbours."""

    def __init__(self, nodes, channels):
        super().__init__()
        distances = torch.tensor([-64, -63, -1, 0, 1, 63, 64])
        columns = (torch.arange(nodes)[:, None] + distances).remainder(nodes).sort(1).values
        self.matrix = torch.sparse_csr_tensor(torch.arange(nodes + 1) * 7, columns.flatten(), torch.full((7 * nodes,), 1 / 7), (nodes, nodes))
        self.linear = nn.Linear(channels, channels) if channels else nn.Identity()

    def forward(self, x):
        return self.linear(torch.sparse.mm(self.matrix, x))


def shuffle(x):
    return functional.channel_shuffle(x, 8)


# Name: (module, batch, extents of a sample in PyTorch's order).
LAYERS = {
    "layers-products": {
        "Linear": (lambda: nn.Linear(512, 512), 2048, (512,)),
        "Linear of positions": (lambda: nn.Linear(64, 64), 64, (128, 64)),
        "Conv1d": (lambda: nn.Conv1d(64, 64, 3, padding=1), 32, (64, 256)),
        "Conv2d": (lambda: nn.Conv2d(64, 64, 3, padding=1), 16, (64, 28, 28)),
        "Conv3d": (lambda: nn.Conv3d(16, 16, 3, padding=1), 8, (16, 16, 16, 16)),
        "depthwise Conv2d": (lambda: nn.Conv2d(64, 64, 3, padding=1, groups=64), 16, (64, 28, 28)),
        "ConvTranspose2d": (lambda: nn.ConvTranspose2d(64, 32, 4, 2, 1), 16, (64, 14, 14)),
        "SpectralConv2d": (lambda: SpectralConv2d(32, 8), 16, (32, 32, 32)),
        "SparseProduct": (lambda: GraphConvolution(4096, 0), 4096, (64,)),
        "GraphConvolution": (lambda: GraphConvolution(4096, 64), 4096, (64,)),
    },
    "layers-normalization": {
        "BatchNorm": (lambda: nn.BatchNorm2d(64), 32, (64, 28, 28)),
        "LayerNorm": (lambda: nn.LayerNorm(512), 2048, (512,)),
        "RMSNorm": (lambda: nn.RMSNorm(512), 2048, (512,)),
        "GroupNorm": (lambda: nn.GroupNorm(8, 64), 32, (64, 28, 28)),
        "InstanceNorm": (lambda: nn.InstanceNorm2d(64), 32, (64, 28, 28)),
        "LocalResponseNorm": (lambda: nn.LocalResponseNorm(5), 32, (64, 28, 28)),
        "Softmax": (lambda: nn.Softmax(-1), 2048, (512,)),
        "LogSoftmax": (lambda: nn.LogSoftmax(-1), 2048, (512,)),
        "Softmax of rows": (lambda: nn.Softmax(2), 32, (64, 28, 28)),
    },
    "layers-pointwise": {
        name: (make, 1024, (1024,)) for name, make in {
            "ReLU": nn.ReLU, "Tanh": nn.Tanh, "Sigmoid": nn.Sigmoid, "GELU": nn.GELU,
            "TanhGELU": lambda: nn.GELU("tanh"), "SiLU": nn.SiLU, "Mish": nn.Mish, "ELU": nn.ELU, "SELU": nn.SELU,
            "CELU": nn.CELU, "LeakyReLU": nn.LeakyReLU, "Softplus": nn.Softplus, "Softsign": nn.Softsign,
            "HardSwish": nn.Hardswish, "HardSigmoid": nn.Hardsigmoid, "HardTanh": nn.Hardtanh, "ReLU6": nn.ReLU6,
            "LogSigmoid": nn.LogSigmoid, "PReLU": nn.PReLU, "Dropout": nn.Dropout}.items()
    },
    "layers-pooling": {
        "MaxPool2d 3s2": (lambda: nn.MaxPool2d(3, 2, 1), 8, (64, 56, 56)),
        "MaxPool2d 2": (lambda: nn.MaxPool2d(2), 8, (64, 56, 56)),
        "AveragePool2d 3s2": (lambda: nn.AvgPool2d(3, 2, 1), 8, (64, 56, 56)),
        "AveragePool2d 2": (lambda: nn.AvgPool2d(2), 8, (64, 56, 56)),
        "LpPool2d": (lambda: nn.LPPool2d(2, 2), 8, (64, 56, 56)),
        "AdaptiveAveragePool2d": (lambda: nn.AdaptiveAvgPool2d(7), 8, (64, 56, 56)),
        "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d(7), 8, (64, 56, 56)),
        "GlobalAveragePool": (lambda: nn.AdaptiveAvgPool2d(1), 64, (512, 7, 7)),
        "Max of channels": (lambda: Function(lambda x: x.amax(1)), 32, (64, 28, 28)),
        "Mean of channels": (lambda: Function(lambda x: x.mean(1)), 32, (64, 28, 28)),
        "Sum of positions": (lambda: Function(lambda x: x.sum((2, 3))), 32, (64, 28, 28)),
        "MaxPool2d and MaxUnpool2d": (PoolAndBack, 32, (64, 28, 28)),
    },
    "layers-moves": {
        "Pad": (lambda: nn.ZeroPad2d(1), 32, (64, 28, 28)),
        "reflecting Pad": (lambda: nn.ReflectionPad2d(1), 32, (64, 28, 28)),
        "Crop": (lambda: Function(lambda x: x[:, :, 2:-2, 2:-2].contiguous()), 32, (64, 28, 28)),
        "PixelShuffle": (lambda: nn.PixelShuffle(2), 32, (64, 28, 28)),
        "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), 32, (16, 56, 56)),
        "Upsample": (lambda: nn.Upsample(scale_factor=2), 16, (32, 28, 28)),
        "bilinear Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), 16, (32, 28, 28)),
        "bicubic Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bicubic"), 16, (32, 14, 14)),
        "GLU": (lambda: nn.GLU(1), 32, (64, 28, 28)),
        "ChannelShuffle": (lambda: Function(shuffle), 32, (64, 28, 28)),
    },
    "layers-sequences": {
        "RNN": (lambda: FirstOutput(nn.RNN(64, 64, batch_first=True)), 64, (64, 64)),
        "LSTM": (lambda: FirstOutput(nn.LSTM(64, 64, batch_first=True)), 64, (64, 64)),
        "GRU": (lambda: FirstOutput(nn.GRU(64, 64, batch_first=True)), 64, (64, 64)),
        "MultiheadAttention": (lambda: SelfAttention(64, 4), 32, (128, 64)),
        "Embedding": (lambda: nn.Embedding(10000, 64), 64, (128,)),
    },
}


def gaussian(z, t):
    mean, variance = z.chunk(2, 1)
    return functional.gaussian_nll_loss(mean, t, variance.exp(), reduction="sum")


def dice(z, t):
    p = torch.sigmoid(z)
    return (1 - (2 * (p * t).sum(1) + 1) / (p.sum(1) + t.sum(1) + 1)).sum()


def quantile(z, t):
    return torch.maximum(0.5 * (t - z), -0.5 * (t - z)).sum()


LOSSES = {
    "MeanSquaredError": (functional.mse_loss, "numbers"),
    "MeanAbsoluteError": (functional.l1_loss, "numbers"),
    "Huber": (functional.huber_loss, "numbers"),
    "SmoothL1": (functional.smooth_l1_loss, "numbers"),
    "LogCosh": (lambda z, t, reduction: torch.log(torch.cosh(z - t)).sum(), "numbers"),
    "Quantile": (lambda z, t, reduction: quantile(z, t), "numbers"),
    "PoissonLikelihood": (functional.poisson_nll_loss, "numbers"),
    "GaussianLikelihood": (lambda z, t, reduction: gaussian(z, t), "halves"),
    "BinaryCrossEntropy": (functional.binary_cross_entropy_with_logits, "numbers"),
    "CrossEntropy": (functional.cross_entropy, "classes"),
    "SmoothedCrossEntropy": (lambda z, t, reduction: functional.cross_entropy(
        z, t, reduction=reduction, label_smoothing=0.1), "classes"),
    "SoftCrossEntropy": (functional.cross_entropy, "numbers"),
    "KullbackLeibler": (functional.kl_div, "numbers"),
    "Dice": (lambda z, t, reduction: dice(z, t), "numbers"),
    "CosineDistance": (lambda z, t, reduction: (1 - functional.cosine_similarity(z, t)).sum(), "numbers"),
    "Hinge": (lambda z, t, reduction: functional.relu(1 - z * t).sum(), "numbers"),
    "MultiMargin": (functional.multi_margin_loss, "classes"),
}

# Extents of the outputs, where they are not (8192, 120).
IMAGE_LOSSES = {
    "BinaryCrossEntropy of masks": ("BinaryCrossEntropy", (64, 1, 128, 128)),
    "MeanSquaredError of images": ("MeanSquaredError", (64, 3, 64, 64)),
    "CrossEntropy of images": ("CrossEntropy", (16, 21, 64, 64)),
}

# Lion, LARS and LAMB are not PyTorch's.
OPTIMIZERS = {
    "Sgd": lambda p: torch.optim.SGD(p, lr=0.01, fused=True),
    "Sgd with momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, fused=True),
    "Adam": lambda p: torch.optim.Adam(p, fused=True),
    "AdamW": lambda p: torch.optim.AdamW(p, fused=True),
    "AmsGrad": lambda p: torch.optim.Adam(p, amsgrad=True, fused=True),
    "NAdam": lambda p: torch.optim.NAdam(p, foreach=True),
    "RmsProp": lambda p: torch.optim.RMSprop(p, foreach=True),
    "Adagrad": lambda p: torch.optim.Adagrad(p, fused=True),
}


def seconds(call):
    for _ in range(3):
        call()
    start = time.perf_counter()
    for _ in range(5):
        call()
    return time.perf_counter() - start


def better(calls):
    """Of the layouts that PyTorch has, the one that takes less time."""
    return min(calls, key=seconds) if len(calls) > 1 else calls[0]


def layer_calls(make, batch, extents, dtype, integers):
    """Inference and training of one layer: pairs of calls for each layout."""
    inference, training = [], []
    # Of images; not where a module's own tensors have other ranks.
    has_layouts = len(extents) == 3 and all(p.dim() <= 4 for p in make().parameters())
    for layout in [torch.contiguous_format] + ([torch.channels_last] if has_layouts else []):
        module = make().to(dtype) if dtype != torch.float32 else make()
        if integers:
            x = torch.randint(10000, (batch, *extents))
        else:
            x = (2 * torch.rand(batch, *extents) - 1).to(dtype).to(memory_format=layout)
        if has_layouts:
            module = module.to(memory_format=layout)
        learned = [p for p in module.parameters()]
        leaf = x if integers else x.clone().requires_grad_()
        with torch.no_grad():
            d_y = torch.rand_like(module(x))

        def infer(module=module, x=x):
            module.eval()
            with torch.inference_mode():
                module(x)

        def train(module=module, leaf=leaf, learned=learned, d_y=d_y):
            module.train()
            wanted = learned if leaf.dtype == torch.int64 else [leaf, *learned]
            for gradient in torch.autograd.grad(module(leaf), wanted, d_y):
                if 0 in gradient.stride():  # repeated in name only, which the next operation pays for
                    gradient.clone(memory_format=torch.contiguous_format)

        inference.append(infer)
        training.append(train)
    return better(inference), better(training)


def loss_call(loss, kind, extents, dtype):
    samples, channels, *spatial = extents
    z = (4 * torch.rand(extents) - 2).to(dtype).requires_grad_()
    if kind == "classes":
        t = torch.randint(channels, (samples, *spatial))
    else:
        wanted = channels // (2 if kind == "halves" else 1)
        t = (0.1 + 0.8 * torch.rand(samples, wanted, *spatial)).to(dtype)

    def call():
        z.grad = None
        loss(z, t, reduction="sum").backward()

    return call


def optimizer_call(make, dtype):
    sizes = [(1024, 1024), (1024,)] * 4
    parameters = [nn.Parameter(torch.rand(s) - 0.5) for s in sizes]
    for p in parameters:
        p.grad = 2 * torch.rand_like(p) - 1
    optimizer = make(parameters)
    working = [torch.empty(s, dtype=dtype) for s in sizes] if dtype != torch.float32 else []

    def call():
        optimizer.step()
        for w, p in zip(working, parameters):
            w.copy_(p.detach())

    return call


def cases(workload, dtype):
    """(case, batch, call) of all that PyTorch has of a workload."""
    if workload == "layers-losses":
        named = {name: (name, (8192, 120)) for name in LOSSES} | IMAGE_LOSSES
        for name, (of, extents) in named.items():
            if dtype != torch.float32 and of == "MultiMargin":
                continue  # not in 16 bits
            yield name, extents[0], loss_call(*LOSSES[of], extents, dtype)
    elif workload == "layers-optimizers":
        for name, make in OPTIMIZERS.items():
            yield name, 4 * (1024 * 1024 + 1024), optimizer_call(make, dtype)
    else:
        for name, (make, batch, extents) in LAYERS[workload].items():
            if dtype != torch.float32 and name in ("SpectralConv2d", "SparseProduct", "GraphConvolution", "LocalResponseNorm"):
                continue  # there are no complex numbers of 16 bits, nor sparse products, nor this norm
            infer, train = layer_calls(make, batch, extents, dtype, name == "Embedding")
            if name != "Dropout":  # which returns its input
                yield name, batch, infer
            yield name + " training", batch, train
