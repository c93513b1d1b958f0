# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Phyllo's losses and gradients against PyTorch's, of the same parameters and samples.

usage: gradients.py PROGRAM

PROGRAM is the one built of gradients.cpp. PyTorch computes in the program's type on the device that the
program ran on, or on the processor where this PyTorch has no such device, and in float64 on the
processor. In each network the largest relative error of Phyllo's gradients, over all tensors, has to be
at most twice PyTorch's own in the same type and a few roundings, and so has the loss. (One tensor's error
says little: where a rounding turns a ReLU off, it jumps, for either.) Exit status 77: skipped, for
PyTorch (Debian: python3-torch) is not there.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("skipped: Python has no module torch (Debian: python3-torch)")
    sys.exit(77)

nn = torch.nn
F = nn.functional
TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
# What is allowed beside PyTorch's own error: 16 times half the distance of neighbours; in float64, which
# is what all is compared with, what two orders of the same sums differ by.
ALLOWED = {"f64": 1e-12, "f32": 2.0**-20, "bf16": 2.0**-5, "f16": 2.0**-8}
STORED = {"F32": torch.float32, "F64": torch.float64, "I32": torch.int32}


def perceptron(activation, *widths, bias=True):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs, bias=bias), activation()]
    return nn.Sequential(*layers[:-1])


class Residual(nn.Module):
    def __init__(self, *main):
        super().__init__()
        self.main = nn.Sequential(*main)

    def forward(self, x):
        return self.main(x) + x


class ChannelsFirst(nn.Module):
    """Flattens what PyTorch stores with channels last in the order of Phyllo's Flatten."""

    def forward(self, x):
        return x.transpose(1, 2).flatten(1)


class Move(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def pad(around, mode, **value):
    return Move(lambda x: nn.functional.pad(x, around, mode=mode, **value))


class Positionwise(nn.Sequential):
    """A module over the channels, which are last for it."""

    def __init__(self, module):
        super().__init__()
        self.weight = module.weight
        self.module = [module]

    def forward(self, x):
        return self.module[0](x.movedim(1, -1)).movedim(-1, 1)


def responses(x, size, alpha, beta=0.75, k=1.0):
    """nn.LocalResponseNorm, which has no 16-bit types on processors."""
    squares = F.pad((x * x).flatten(2).transpose(1, 2), (size // 2, (size - 1) // 2)).unfold(2, size, 1)
    return x / (k + alpha * squares.mean(3).transpose(1, 2).reshape(x.shape)) ** beta


class Along(nn.Module):
    """A reduction over an axis, which stays with an extent of one."""

    def __init__(self, function, axis):
        super().__init__()
        self.function, self.axis = function, axis

    def forward(self, x):
        return self.function(x, self.axis, keepdim=True)


class Positions(nn.Module):
    """Adds a row of parameters, or sines and cosines, to each position: (N, T, C)."""

    def __init__(self, positions, channels, learned):
        super().__init__()
        if learned:
            self.weight = nn.Parameter(torch.empty(positions, channels))
            return
        angle = torch.arange(positions)[:, None] / 10000.0 ** (torch.arange(channels // 2).double() * 2 / channels)
        self.register_buffer("sines", torch.stack((angle.sin(), angle.cos()), 2).flatten(1))

    def forward(self, x):
        return x + (self.weight if hasattr(self, "weight") else self.sines)


class Spectral(nn.Module):
    """The spectral convolution of Li et al.: products with the corners of the spectrum; float where torch has no FFT."""

    def __init__(self, inputs, outputs, *modes):
        super().__init__()
        self.modes = modes
        kept = [m * (1 + (d < len(modes) - 1)) for d, m in enumerate(modes)]
        self.weight = nn.Parameter(torch.empty(outputs, inputs, *kept, 2))

    def forward(self, x):
        wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
        axes, last = tuple(range(2, x.dim())), self.modes[-1]
        corners = [torch.arange(-m, m).roll(m) for m in self.modes[:-1]] + [torch.arange(last)]
        spectrum = torch.fft.rfftn(wide, dim=axes)
        weight = torch.view_as_complex(self.weight.to(wide.dtype))
        at = torch.meshgrid(*corners, indexing="ij")
        products = torch.einsum("ni...,oi...->no...", spectrum[(slice(None), slice(None), *at)], weight)
        whole = products.new_zeros(x.shape[0], weight.shape[0], *spectrum.shape[2:])
        whole[(slice(None), slice(None), *at)] = products
        return torch.fft.irfftn(whole, s=x.shape[2:], dim=axes).to(x.dtype)


def causal(positions):
    return torch.ones(positions, positions, dtype=torch.bool).triu(1)


class Attended(nn.Module):
    """A module of torch's in one of Phyllo's sequences, whose names are the module's; x, words -> x"""

    def __init__(self, module, call):
        super().__init__()
        self.module, self.call = module, call

    def forward(self, x, words, memory):
        return self.call(self.module, x, words, memory)


class Sequence(nn.Module):
    """Parts in order, of which some read the words and the embedding of them."""

    def __init__(self, *parts):
        super().__init__()
        self.parts = parts
        for i, part in enumerate(parts):
            self.add_module(str(i), part.module if isinstance(part, Attended) else part)

    def forward(self, words):
        # Numbers are (N, C, T), as Phyllo has them.
        x = memory = self.parts[0](words.transpose(1, 2) if words.is_floating_point() else words)
        for part in self.parts[1:]:
            x = part(x, words, memory) if isinstance(part, Attended) else part(x)
        return x


def transformer(layer, *sizes, **options):
    return layer(*sizes, dropout=0.0, batch_first=True, **options)


class Recurrent(nn.Module):
    """Layers of torch's one after the other, over (N, C, T)."""

    def __init__(self, *layers):
        super().__init__()
        for i, layer in enumerate(layers):
            self.add_module(str(i), layer)

    def forward(self, x):
        for layer in self.children():
            if isinstance(layer, nn.RNNBase):
                x = layer(x.transpose(1, 2))[0].transpose(1, 2)
            else:
                x = layer(x)
        return x


def side_by_side(states):
    return states.transpose(0, 1).flatten(1)


class States(nn.Module):
    def __init__(self):
        super().__init__()
        # The numbers that Phyllo gives the layers.
        for i, layer in ((2, nn.Linear(6, 20)), (3, nn.Linear(6, 20)),
                         (4, nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True)),
                         (5, nn.GRU(10, 20, batch_first=True)), (8, nn.Linear(60, 4))):
            self.add_module(str(i), layer)

    def forward(self, x, lengths):
        layer = dict(self.named_children())
        mean = x.mean(2)
        h0, c0 = (layer[i](mean).unflatten(1, (4, 5)).transpose(0, 1).contiguous() for i in "23")
        packed = nn.utils.rnn.pack_padded_sequence(x.transpose(1, 2), lengths.cpu(), batch_first=True,
                                                   enforce_sorted=False)
        packed, (h, c) = layer["4"](packed, (h0, c0))
        packed, last = layer["5"](packed, side_by_side(h)[None])
        y = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=x.shape[2])[0]
        return layer["8"](torch.cat((y.mean(1), side_by_side(last), side_by_side(c)), 1))




class Factors(nn.Module):
    """A factor for each channel, and a summand or none."""

    def __init__(self, channels, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias else None

    def forward(self, x):
        y = x * self.weight[:, None, None]
        return y if self.bias is None else y + self.bias[:, None, None]


class Constants(nn.Module):
    """Normalise, or its inverse, by constants of each channel or each element."""

    def __init__(self, shape, names=("mean", "std"), inverse=False):
        super().__init__()
        self.names, self.inverse = names, inverse
        for name in names:
            self.register_buffer(name, torch.ones(shape))

    def forward(self, x):
        offset, scale = (getattr(self, name) for name in self.names)
        if offset.dim() == 1:
            offset, scale = (n.reshape((-1,) + (1,) * (x.dim() - 2)) for n in (offset, scale))
        return offset + scale * x if self.inverse else (x - offset) / scale


class SwiGLU(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, 1)
        return a * nn.functional.silu(b)


class Excited(nn.Sequential):
    """Squeeze and excitation: the result of layer 2, times that of layer 5."""

    def forward(self, x):
        layers = list(self)
        for layer in layers[:3]:
            x = layer(x)
        gate = x
        for layer in layers[3:6]:
            gate = layer(gate)
        x = x * gate
        for layer in layers[6:]:
            x = layer(x)
        return x


class Unpooled(nn.Sequential):
    """The indices and extents of the maxima of layer 1 are read by layer 4."""

    def forward(self, x):
        layers = list(self)
        image = layers[0](x)
        x, places = layers[1](image)
        x = layers[4](layers[3](layers[2](x)), places, output_size=image.shape)
        for layer in layers[5:]:
            x = layer(x)
        return x


def convolution(inputs, outputs):
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)


def normalization():
    return nn.BatchNorm2d(8)


NETWORKS = {
    "mlp": lambda: perceptron(nn.ReLU, 16, 64, 64, 64, 64, 16),
    "odd": lambda: nn.Sequential(nn.Linear(5, 33), nn.Tanh(), nn.Linear(33, 19), nn.Sigmoid(), nn.Linear(19, 3)),
    "deep": lambda: perceptron(nn.GELU, 40, 128, 128, 128, 10),
    "wide": lambda: nn.Sequential(nn.Linear(300, 512), nn.ReLU(), nn.Linear(512, 512, bias=False), nn.ReLU(),
                                  nn.Linear(512, 7)),
    "lenet": lambda: nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
                                   nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(),
                                   nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    "residuals": lambda: nn.Sequential(
        convolution(3, 8), normalization(), nn.GELU(),
        Residual(convolution(8, 8), normalization(), nn.GELU(), convolution(8, 8), normalization()), nn.GELU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)),
    "convolutions": lambda: nn.Sequential(
        nn.Conv2d(4, 8, 3, padding=2, dilation=2, groups=2, bias=False), normalization(), nn.GELU(),
        nn.Conv2d(8, 8, 3, stride=2, padding=1, padding_mode="circular", groups=8), nn.Tanh(),
        nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=(0, 1), groups=2), nn.GELU(),
        nn.ConvTranspose2d(6, 5, (2, 3), dilation=(2, 1), bias=False), nn.Tanh(),
        nn.Conv2d(5, 4, 3, padding=1, padding_mode="reflect"), nn.GELU(),
        nn.Conv2d(4, 4, 5, padding=2, padding_mode="replicate", dilation=(1, 2)), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(4, 4)),
    "moves": lambda: nn.Sequential(
        pad((1, 1, 1, 1), "circular"), nn.Conv2d(3, 8, 3), nn.GELU(), nn.PixelUnshuffle(2), nn.ChannelShuffle(4),
        nn.Conv2d(32, 8, 1), nn.Tanh(), nn.PixelShuffle(2), pad((2, 1, 2, 1), "reflect"), Move(lambda x: x[:, :, 1:9:2]),
        Move(lambda x: x.flip(1, -1)), Move(lambda x: x.permute(0, 3, 1, 2)), nn.Conv2d(9, 6, 1), nn.GELU(), nn.Upsample(scale_factor=2),
        Move(lambda x: x[:, :, 1:-1, 1:-1]), pad((0, 0, 1, 1), "replicate"), Move(lambda x: x.reshape(-1, 4, 36)),
        nn.Conv1d(4, 4, 3), nn.Tanh(), pad((1, 1), "constant", value=0.5), nn.Flatten(), nn.Linear(144, 4)),
    "operators": lambda: nn.Sequential(
        nn.Conv2d(2, 6, 1), Residual(Spectral(6, 6, 2, 3)), nn.GELU(), Spectral(6, 4, 4, 5), nn.Tanh(), Move(lambda x: x.reshape(-1, 4, 72)),
        Spectral(4, 5, 9), nn.GELU(), Move(lambda x: x.reshape(-1, 5, 6, 4, 3)), Spectral(5, 3, 2, 2, 2), nn.Tanh(), nn.Flatten(),
        nn.Linear(216, 4)),
    "rows": lambda: nn.Sequential(nn.Linear(20, 48), nn.LayerNorm(48), nn.GELU(), nn.Linear(48, 129),
                                  nn.RMSNorm(129, eps=1e-5), nn.Tanh(), nn.Linear(129, 4)),
    "units": lambda: nn.Sequential(
        nn.Linear(12, 24), nn.SiLU(), nn.Linear(24, 24), nn.Mish(), nn.Linear(24, 24), nn.Softplus(), nn.Linear(24, 24),
        nn.LogSigmoid(), nn.Linear(24, 24), nn.Softsign(), nn.Linear(24, 24), nn.ELU(0.75), nn.Linear(24, 24), nn.CELU(1.5),
        nn.Linear(24, 24), nn.SELU(), nn.Linear(24, 24), nn.LeakyReLU(0.125), nn.Linear(24, 24),
        nn.GELU(approximate="tanh"), nn.Linear(24, 24), nn.Hardswish(), nn.Linear(24, 4)),
    "small": lambda: perceptron(nn.Tanh, 6, 16, 4),
    "groups": lambda: nn.Sequential(
        nn.Conv2d(6, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.GELU(), nn.AdaptiveAvgPool2d((5, 4)),
        nn.InstanceNorm2d(8, affine=True), nn.Tanh(), nn.Softmax(2), nn.Conv2d(8, 12, 3, padding=1),
        nn.GroupNorm(1, 12, eps=1e-3, affine=False), nn.AdaptiveMaxPool2d(3), Along(torch.amax, 3), Along(torch.mean, 2),
        nn.Flatten(), nn.Linear(12, 5), nn.LogSoftmax(1)),
    "images": lambda: nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8, eps=1e-3, affine=False), nn.GELU(),
        nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.Upsample(scale_factor=2, mode="bicubic"), nn.Conv2d(8, 12, 1),
        Move(lambda x: responses(x, 5, 0.5)), nn.Upsample(scale_factor=2, mode="bilinear"), Positionwise(nn.LayerNorm(12, bias=False)),
        nn.AvgPool2d(4, 3, 1, ceil_mode=True), nn.Upsample(size=(7, 5), mode="bilinear", align_corners=True), nn.Tanh(),
        nn.MaxPool2d(2, ceil_mode=True), nn.Upsample(size=(5, 4), mode="bicubic", align_corners=True), nn.Conv2d(12, 4, 2),
        nn.LPPool2d(2, 2), nn.Flatten(), nn.Linear(8, 4)),
    "unpooled": lambda: Unpooled(
        nn.Conv2d(3, 6, 3, padding=1), nn.MaxPool2d(2, 3, 1, return_indices=True), nn.Conv2d(6, 6, 3, padding=1), nn.Tanh(),
        nn.MaxUnpool2d(2, 3, 1), nn.Conv2d(6, 4, 3), nn.Flatten(), nn.Linear(224, 4)),
    "gates": lambda: Excited(
        nn.Conv2d(3, 16, 3, padding=1), nn.GLU(1), nn.PReLU(8), nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 8, 1), nn.Sigmoid(),
        Factors(8, False), Factors(8, True), nn.Conv2d(8, 8, 1), SwiGLU(), nn.PReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(4, 4)),
    "physical": lambda: nn.Sequential(
        Constants((3, 4, 5)), nn.Conv2d(3, 6, 3), nn.Tanh(), Constants(6, inverse=True), nn.Flatten(), nn.Linear(36, 4),
        Constants(4, ("minimum", "range"), True)),
    "words": lambda: nn.Sequential(nn.Embedding(23, 12), nn.LayerNorm(12), ChannelsFirst(), nn.Linear(84, 33), nn.GELU(),
                                   nn.RMSNorm(33, eps=1e-3), nn.Linear(33, 5)),
    "encoder": lambda: Sequence(
        nn.Linear(8, 12), Positions(9, 12, True),
        transformer(nn.TransformerEncoderLayer, 12, 3, 20, activation="gelu", norm_first=True), Positions(9, 12, False),
        Attended(transformer(nn.TransformerEncoderLayer, 12, 2, 16, layer_norm_eps=1e-3),
                 lambda m, x, words, memory: m(x, src_mask=causal(9).to(x.device))),
        ChannelsFirst(), nn.Linear(108, 5)),
    "decoder": lambda: Sequence(
        nn.Embedding(2, 12), nn.Linear(12, 12, bias=False), Positions(20, 12, True),
        Attended(transformer(nn.TransformerDecoderLayer, 12, 3, 20),
                 lambda m, x, words, memory: m(x, memory, tgt_mask=causal(20).to(x.device))),
        Attended(nn.MultiheadAttention(12, 2, batch_first=True),
                 lambda m, x, words, memory: m(x, x, x, key_padding_mask=words != 0)[0]),
        Attended(transformer(nn.TransformerDecoderLayer, 12, 2, 16, norm_first=True),
                 lambda m, x, words, memory: m(x, memory, tgt_key_padding_mask=words != 0)),
        ChannelsFirst(), nn.Linear(240, 5)),
    "sequences": lambda: Recurrent(
        nn.LSTM(6, 12, 2, batch_first=True, bidirectional=True), nn.RNN(24, 7, batch_first=True),
        nn.RNN(7, 20, batch_first=True, nonlinearity="relu", bias=False),
        nn.GRU(20, 17, 2, batch_first=True, bidirectional=True), nn.GRU(34, 5, batch_first=True), nn.Flatten(),
        nn.Linear(45, 4)),
    "states": States,
}


# Losses by the names that files have; of class indices, or of numbers like the outputs. The mean is over samples.
LOSSES = {
    "cross_entropy": lambda y, t: F.cross_entropy(y, t),
    "smoothed_cross_entropy": lambda y, t: F.cross_entropy(y, t, label_smoothing=0.1),
    "multi_margin": lambda y, t: F.multi_margin_loss(y, t),
    "mean_squared_error": F.mse_loss,
    "mean_absolute_error": F.l1_loss,
    "huber": F.huber_loss,
    "smooth_l1": F.smooth_l1_loss,
    "binary_cross_entropy": F.binary_cross_entropy_with_logits,
    "poisson_likelihood": F.poisson_nll_loss,
    "cosine_distance": lambda y, t: (1 - F.cosine_similarity(y, t)).mean(),
    "soft_cross_entropy": lambda y, t: -(t * F.log_softmax(y, 1)).sum(1).mean(),
}


def read(path):
    """Tensors by name, and the metadata, of a safetensors file."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=STORED[entry["dtype"]]).reshape(
            entry["shape"])
    return tensors, metadata


def gradients(network, loss_name, tensors, device, dtype):
    """The loss, and the gradients of all parameters by name, in float64 on the processor."""
    model = NETWORKS[network]().to(device, torch.float64)
    weights = {k: v for k, v in tensors.items() if k in model.state_dict()}
    model.load_state_dict(weights, strict=False)
    model.to(dtype)
    x = tensors["input"].to(device)
    lengths = (tensors["lengths"],) if "lengths" in tensors else ()
    output = model(x.long() if x.dtype == torch.int32 else x.to(dtype), *lengths)
    target = tensors["target"].to(device)
    # Losses are computed in float, as Phyllo's are.
    output = output.to(torch.promote_types(dtype, torch.float32))
    loss = LOSSES[loss_name](output, target.long() if target.dtype == torch.int32 else target.to(output.dtype))
    # Small gradients keep their bits in float16.
    scale = 1024.0 if dtype == torch.float16 else 1.0
    (loss * scale).backward()
    return loss.item(), {k: v.grad.double().cpu() / scale for k, v in model.named_parameters()}


def compare(path):
    """Whether one file is right; says what it saw."""
    tensors, metadata = read(path)
    network, loss_name, dtype = metadata["network"], metadata["loss"], metadata["dtype"]
    device = "cuda" if metadata["space"] in ("Cuda", "HIP") and torch.cuda.is_available() else "cpu"
    loss, truth = gradients(network, loss_name, tensors, "cpu", torch.float64)
    loss_of_torch, of_torch = gradients(network, loss_name, tensors, device, TYPES[dtype])
    of_phyllo = {name: tensors["gradient." + name] for name in truth}

    def largest(got):
        return max((got[name] - truth[name]).norm().item() / truth[name].norm().item() for name in truth)

    allowed = ALLOWED[dtype]
    error, theirs = largest(of_phyllo), largest(of_torch)
    loss_error, their_loss = (abs(x - loss) / abs(loss) for x in (tensors["loss"].item(), loss_of_torch))
    right = error <= 2 * theirs + allowed and loss_error <= 2 * their_loss + allowed
    print(f"{path.stem:16} on {metadata['space']}, PyTorch on {device}: gradients {error:.2e} off, "
          f"PyTorch's {theirs:.2e}; loss {loss_error:.2e}, PyTorch's {their_loss:.2e}"
          f"{'' if right else '   WRONG'}")
    return right


def main():
    # Sums in float, also where a device would rather multiply TF32.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        files = sorted(pathlib.Path(folder).glob("*.safetensors"))
        right = [compare(path) for path in files]
    if not files or not all(right):
        sys.exit(f"{right.count(False)} of {len(files)} networks and types are wrong")
    print(f"{len(files)} networks and types agree")


if __name__ == "__main__":
    main()
