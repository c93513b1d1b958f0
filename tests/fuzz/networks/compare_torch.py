#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Backend reference against PyTorch: the same networks, built here from the same descriptions.

usage: compare_torch.py FOLDER

FOLDER: files that programs of random networks wrote (PHYLLO_NETWORKS_DUMP=FOLDER): what backend
`reference` computes in float64 of three samples. Every backend and fusion is compared with `reference`
by the programs themselves; this comparison is about what they share with it: how a network's type
becomes layers, shapes, edges and names. Exit status 77: PyTorch (Debian: python3-torch) is missing.
"""

import json
import math
import pathlib
import sys

try:
    import torch
except ImportError:
    print("skipped: Python has no module torch (Debian: python3-torch)")
    sys.exit(77)

sys.dont_write_bytecode = True
import generate  # noqa: E402

F = torch.nn.functional
# Two orders of the same sums in float64, and where batch normalisation subtracts what samples have in common;
# running statistics are floats.
# normal numbers are floats as well.
ALLOWED, ALLOWED_NORMALIZED, ALLOWED_STATISTICS, ALLOWED_NOISE = 1e-9, 1e-6, 1e-6, 1e-5


def uniform(seed, step, position, sample, element):
    """Phyllo's random number in [0, 1) of that name: Philox4x32-10."""
    mask = 0xFFFFFFFF
    low, high = (step << 30) | (element >> 2), (position << 48) | sample
    w = [low & mask, low >> 32 & mask, high & mask, high >> 32]
    k = [seed & mask, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * w[0], 0xCD9E8D57 * w[2]
        w = [b >> 32 ^ w[1] ^ k[0], b & mask, a >> 32 ^ w[3] ^ k[1], a & mask]
        k = [k[0] + 0x9E3779B9 & mask, k[1] + 0xBB67AE85 & mask]
    return (w[element & 3] >> 8) * 2.0**-24


# By their definitions, with PyTorch's defaults where generate.UNITS has none. The gradient of F.hardsigmoid has a
# factor of 1.0f / 6 at elements that its vector code leaves over: 3e-8 off in float64.
UNITS = {"leaky_relu": lambda x: F.leaky_relu(x, 0.125), "elu": F.elu, "celu": lambda x: F.celu(x, 1.5), "selu": F.selu,
         "silu": F.silu, "mish": F.mish, "softplus": lambda x: torch.logaddexp(2 * x, torch.zeros_like(x)) / 2, "log_sigmoid": F.logsigmoid,
         "softsign": F.softsign, "hard_tanh": F.hardtanh, "relu6": F.relu6,
         "hard_sigmoid": lambda x: F.hardtanh(x / 6 + 0.5, 0.0, 1.0), "hard_swish": F.hardswish, "tanh_gelu": lambda x: F.gelu(x, approximate="tanh")}


def normal(seed, step, position, sample, element):
    """Phyllo's standard normal number of that name: Box and Muller's, of a pair of neighbours."""
    u, v = (uniform(seed, step, position, sample, e) for e in (element & ~1, element | 1))
    return math.sqrt(-2 * math.log1p(-u)) * (math.sin if element & 1 else math.cos)(2 * math.pi * v)


class Network:
    """Runs the parts of a description; parameters and statistics by PyTorch's names."""

    def __init__(self, dump):
        self.parts = dump["description"]["parts"]
        self.seed = dump["seed"]
        self.table, self.order = dump["parameters"], dump["order"]
        self.tensors = {}
        for name, e in self.table.items():
            source = torch.tensor(dump["buffers" if e["buffer"] else "arena"], dtype=torch.float64)
            # (taps, channels, outputs) in the arena, (outputs, channels, taps) elsewhere.
            count = e["taps"] * e["channels"] * e["outputs"]
            if count != generate.product(e["shape"]):  # rows of a tensor of several layers
                e["shape"][0] = e["outputs"]
            value = source[e["at"]:e["at"] + count].reshape(e["taps"], e["channels"], e["outputs"])
            value = value.permute(2, 1, 0).reshape(e["shape"]).clone()
            self.tensors[name] = value if e["buffer"] else value.requires_grad_()

    def run(self, x, training, step):
        self.x, self.training, self.step = list(x), training, step
        self.tags, self.outputs, self.node = {}, [], 0
        last = self.sequence(self.parts, None, "")
        return self.outputs or [last]

    def sequence(self, parts, v, path):
        number = 0
        for part in parts:
            v = self.part(part, v, f"{path}.{number}" if path else str(number))
            number += part[0] not in generate.UNNUMBERED
        return v

    @staticmethod
    def spectral_conv(part, v, weight):
        """As the first FNO: products with the corners of the spectrum, and the inverse transform of real numbers."""
        modes, extents = part[2], v.shape[2:]
        axes = tuple(range(2, v.dim()))
        spectrum = torch.fft.rfftn(v, dim=axes)
        for axis, m in zip(axes[:-1], modes):
            length = spectrum.shape[axis]
            spectrum = torch.cat((spectrum.narrow(axis, 0, m), spectrum.narrow(axis, length - m, m)), axis)
        spectrum = spectrum.narrow(axes[-1], 0, modes[-1])
        product = torch.einsum("ni...,oi...->no...", spectrum, torch.view_as_complex(weight.contiguous()))
        for axis, m, length in zip(axes[:-1], modes, extents):
            shape = list(product.shape)
            shape[axis] = length - 2 * m
            product = torch.cat((product.narrow(axis, 0, m), product.new_zeros(shape), product.narrow(axis, m, m)), axis)
        return torch.fft.irfftn(product, s=extents, dim=axes)

    @staticmethod
    def sparse_product(v, nodes):
        """All positions times the matrix of networks::graph in subject.hpp."""
        matrix = torch.zeros(nodes, nodes, dtype=v.dtype)
        for i in range(nodes):
            for step, number in ((0, 0.5), (1, 0.25), (3, -0.5)):
                matrix[i, (i + step) % nodes] += number * (1 + i % 3)
        return torch.einsum("ij,ncj->nci", matrix, v.flatten(2) if v.dim() > 2 else v[:, :, None]).reshape(v.shape)

    def part(self, part, v, path):
        kind = part[0]
        if kind == "residual":
            a = self.sequence(part[1], v, path + ".main")
            b = self.sequence(part[2] or [], v, path + ".shortcut")
            self.node += 1
            return a + b
        if kind == "branch":
            v = torch.cat([self.sequence(p, v, f"{path}.{i}") for i, p in enumerate(part[1])], 1)
            self.node += 1
            return v
        if kind == "repeat":
            for i in range(part[1]):
                v = self.sequence(part[2], v, f"{path}.{i}")
            return v
        if kind == "recompute":
            return self.sequence(part[1], v, path) if len(part[1]) != 1 else self.part(part[1][0], v, path)
        if kind == "save":
            self.tags[part[1]] = v
            return v
        if kind == "output":
            self.outputs.append(v)
            return v
        if kind == "from":
            return self.tags[part[1]]
        if kind == "attention":
            return self.attention(part[1], part[2], part[3], v, path)
        if kind in ("encoder", "decoder"):
            return self.transformer(part, v, path)
        if kind == "recurrent":
            return self.recurrent(part, v, path)
        self.node += 1
        if kind in generate.INPUTS:
            v = self.x.pop(0)
            if kind in generate.NAMED_INPUTS:
                self.tags[part[1]] = v
            return v
        if kind == "add_from":
            return v + self.tags[part[1]]
        if kind in ("multiply_by", "combine"):
            return self.of_two(part, v, self.tags[part[-1]])
        if kind == "unpool":
            return self.unpool(part, v, self.tags[part[-1]])
        if kind == "concat_from":
            return torch.cat([v, self.tags[part[1]]], 1)
        return self.layer(part, v, path)

    def at_positions(self, v, path, weight="weight", bias="bias", part=""):
        """A Linear layer at every position."""
        self.node += 1
        return F.linear(v.movedim(1, -1), self.tensors[f"{path}.{weight}{part}"],
                        self.tensors.get(f"{path}.{bias}{part and '@' + str(v.shape[1])}")).movedim(-1, 1)

    def drop(self, v, probability):
        if probability is None:
            return v
        self.node += 1
        return v * self.mask(v, probability) if self.training else v

    def attention(self, heads, memory, o, v, path):
        n, channels, queries = v.shape
        width = channels // heads
        names = ("in_proj_weight", "in_proj_bias")
        if memory:
            q = self.at_positions(v, path, *names)
            k, v = self.at_positions(self.tags[memory], path, *names, f"@{channels * channels}").chunk(2, 1)
        else:
            q, k, v = self.at_positions(v, path, *names).chunk(3, 1)
        keys = k.shape[2]
        q, k, v = (x.reshape(n, heads, width, -1).movedim(2, -1) for x in (q, k, v))  # (N, heads, T, width)
        if o["rotary"]:
            self.node += 1
            angle = torch.arange(keys).double()[:, None] / float(o["rotary"])**(torch.arange(width // 2).double() * 2 / width)
            turn = torch.polar(torch.ones_like(angle), angle)
            q, k = (torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous()) * turn).flatten(-2)
                    for x in (q, k))
        self.node += 1
        score = q @ k.transpose(-1, -2) / width**0.5
        if o["causal"]:
            score = score.masked_fill(torch.ones(queries, keys, dtype=torch.bool).triu(1), float("-inf"))
        if o["mask"]:
            score = score.masked_fill((self.tags[o["mask"]].reshape(n, keys) != 0)[:, None, None], float("-inf"))
        self.node += 1
        # As Phyllo has them: (N, keys, heads, queries).
        weights = self.drop(F.softmax(score, -1).movedim(-1, 1), o["dropout"])
        self.node += 1
        y = (weights.movedim(1, -1) @ v).movedim(-1, 2).reshape(n, channels, queries)
        return self.at_positions(y, path + ".out_proj")

    def transformer(self, part, v, path):
        channels, heads = part[1:3]
        o = part[-1]

        def sublayer(number, x, inner):
            def norm(x):
                self.node += 1
                return F.layer_norm(x.movedim(1, -1), (channels,), self.tensors[f"{path}.norm{number}.weight"],
                                    self.tensors[f"{path}.norm{number}.bias"], o["epsilon"]).movedim(-1, 1)
            y = self.drop(inner(norm(x) if o["norm_first"] else x), o["dropout"])
            self.node += 1
            return x + y if o["norm_first"] else norm(x + y)

        def feed(x):
            x = self.at_positions(x, path + ".linear1")
            self.node += 1
            x = self.drop(self.layer([o["activation"]], x, path), o["dropout"])
            return self.at_positions(x, path + ".linear2")
        v = sublayer(1, v, lambda x: self.attention(heads, None, o, x, path + ".self_attn"))
        if part[0] == "decoder":
            cross = {**o, "causal": False, "mask": None, "rotary": 0}
            v = sublayer(2, v, lambda x: self.attention(heads, part[4], cross, x, path + ".multihead_attn"))
        return sublayer(3 if part[0] == "decoder" else 2, v, feed)

    def recurrent(self, part, v, path):
        _, cell, hidden, o = part
        directions, states = 1 + o["bidirectional"], generate.states_of(cell)
        places = o["layers"] * directions
        kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(cell, torch.nn.RNN)
        relu = {"nonlinearity": "relu"} if cell == "rnn_relu" else {}
        flat = v.dim() == 2
        x = v[:, :, None] if flat else v
        module = kind(x.shape[1], hidden, o["layers"], bias=o["bias"], batch_first=True, bidirectional=o["bidirectional"],
                      dtype=torch.float64, **relu)
        weights = {name: self.tensors[f"{path}.{name}"] for name, _ in module.named_parameters()}
        outputs, last = [], []
        for n in range(x.shape[0]):  # PyTorch takes no length of zero
            length = int(self.tags[o["lengths"]].flatten()[n]) if o["lengths"] else x.shape[2]
            state = tuple(self.tags[tag].flatten(1)[n].reshape(places, 1, hidden) if o["initial"] else
                          torch.zeros(places, 1, hidden, dtype=torch.float64)
                          for tag in (o["initial"] or range(states)))
            y = torch.zeros(1, x.shape[2], directions * hidden, dtype=torch.float64)
            if length > 0:
                found, state = torch.func.functional_call(
                    module, weights, (x[n:n + 1, :, :length].transpose(1, 2), state if states == 2 else state[0]))
                y = F.pad(found, (0, 0, 0, x.shape[2] - length))
                state = state if states == 2 else (state,)
            outputs.append(y.transpose(1, 2))
            last.append([s.flatten()[None] for s in state])
        for s, tag in enumerate(o["final"]):
            self.tags[tag] = torch.cat([states_of_sample[s] for states_of_sample in last])
        carries = bool(o["final"]) and states - (0 if o["lengths"] else 1) > 0
        self.node += places * (2 + carries) + (directions == 2) * o["layers"] + len(o["final"]) * (2 * places - 1)
        y = torch.cat(outputs)
        return y[:, :, 0] if flat else y

    def of_two(self, part, v, saved):
        a, b = v, saved
        if a[0, 0].numel() == 1 or b[0, 0].numel() == 1:
            # One of a single position follows the rank of the other; of two such, the first.
            rank = (b if b[0, 0].numel() > a[0, 0].numel() else a).dim()
            a, b = (t if t.dim() == rank else t.reshape(t.shape[:2] + (1,) * (rank - 2)) for t in (a, b))
        if part[0] == "multiply_by":
            return a * b
        if part[1] == "plus":
            return a + b
        return a - b if part[1] == "subtract" else self.reparameterise(a, b)

    def unpool(self, part, v, image):
        _, rank, size, stride, padding, o, _ = part
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[rank - 1]
        _, place = pool(image.clone(memory_format=torch.contiguous_format), size, stride, padding, ceil_mode=o["ceil"],
                        return_indices=True)
        flat = torch.zeros_like(image, memory_format=torch.contiguous_format).flatten(2)
        return flat.scatter(2, place.flatten(2), v.flatten(2)).reshape(image.shape)

    def reparameterise(self, mean, log_variance):
        like = mean + log_variance
        if not self.training:
            return mean.expand_as(like)
        channels, positions = like.shape[1], like[0, 0].numel()
        position = self.order.index(self.node - 1)
        noise = [[[normal(self.seed, self.step, position, n, p * channels + c) for p in range(positions)]
                  for c in range(channels)] for n in range(like.shape[0])]
        return mean + torch.exp(log_variance / 2) * torch.tensor(noise, dtype=torch.float64).reshape(like.shape)

    def layer(self, part, v, path):
        kind = part[0]
        get = lambda name: self.tensors.get(f"{path}.{name}")
        if kind == "linear":
            return F.linear(v.movedim(1, -1), get("weight"), get("bias")).movedim(-1, 1)
        if kind == "positions":
            if part[1] == "learned":
                return v + get("weight").T
            channel = torch.arange(v.shape[1])
            angle = torch.arange(v.shape[2]).double() / float(part[2])**((channel // 2).double() * 2 / v.shape[1])[:, None]
            return v + torch.where(channel[:, None] % 2 == 0, angle.sin(), angle.cos())
        if kind == "conv":
            convolve = (F.conv1d, F.conv2d, F.conv3d)[part[1] - 1]
            return convolve(v.clone(memory_format=torch.contiguous_format), get("weight"), get("bias"), stride=part[4],
                            padding=part[5])
        if kind == "spectral_conv":
            self.node += 2 * len(part[2])
            return self.spectral_conv(part, v, get("weight"))
        if kind in ("sparse_product", "graph_conv"):
            v = self.sparse_product(v, part[-1])
            if kind == "sparse_product":
                return v
            self.node += 1
            return F.linear(v.movedim(1, -1), get("weight"), get("bias")).movedim(-1, 1)
        if kind == "general_conv":
            _, rank, _, _, stride, padding, _, o = part
            # Strides that PyTorch takes for no other order of memory.
            weight = get("weight").clone(memory_format=torch.contiguous_format)
            v = v.clone(memory_format=torch.contiguous_format)
            if o["transposed"]:
                convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
                return convolve(v, weight, get("bias"), stride=stride, padding=padding, groups=o["groups"],
                                output_padding=o["output_padding"], dilation=o["dilation"])
            around = [n for before, after in zip(reversed(padding), reversed(o["after"])) for n in (before, after)]
            v = F.pad(v, around, mode="constant" if o["mode"] == "zeros" else o["mode"])
            convolve = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
            return convolve(v, weight, get("bias"), stride=stride, dilation=o["dilation"],
                            groups=o["groups"])
        if kind == "pool":
            which = ((F.max_pool1d, F.max_pool2d, F.max_pool3d) if part[1] == "max" else
                     (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d))[part[2] - 1]
            o = generate.pool_options(part)
            if o != generate.pool_options(()):
                more = {} if part[1] == "max" else {"count_include_pad": o["counts"]}
                return which(v.clone(memory_format=torch.contiguous_format), part[3], part[4], part[5], ceil_mode=o["ceil"], **more)
            # Padded here: PyTorch refuses some images that are smaller than the window, whatever their padding.
            around = [n for p in reversed(part[5]) for n in (p, p)]
            v = F.pad(v, around, value=float("-inf") if part[1] == "max" else 0.0)
            return which(v, part[3], stride=part[4])
        if kind == "lp_pool":
            self.node += 2
            return (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[part[2] - 1](v, part[1], part[3], part[4])
        if kind == "local_response":  # PyTorch's needs an extent
            return F.local_response_norm(v if v.dim() > 2 else v[:, :, None], *part[1:]).reshape(v.shape)
        if kind == "global_pool":
            return v.mean(dim=tuple(range(2, v.dim())), keepdim=True)
        if kind == "upsample":
            return v if part[1] == 1 else F.interpolate(v, scale_factor=part[1], mode="nearest")
        if kind == "resize":
            mode = "bicubic" if part[2] == "cubic" else ("linear", "bilinear", "trilinear")[v.dim() - 3]
            size = {"size": part[1]} if isinstance(part[1], list) else {"scale_factor": part[1]}
            return F.interpolate(v, **size, mode=mode, align_corners=part[3])
        if kind == "batch_norm":
            epsilon, momentum = part[2:4] or (1e-5, 0.1)
            return F.batch_norm(v, get("running_mean"), get("running_var"), get("weight"), get("bias"), self.training,
                                momentum, epsilon)
        if kind == "embedding":  # PyTorch's channels are last
            return F.embedding(v if v.dim() == 2 else v[:, 0], get("weight")).movedim(-1, 1)
        if kind == "layer_norm":
            return F.layer_norm(v.movedim(1, -1), (v.shape[1],), get("weight"), get("bias"), part[2]).movedim(-1, 1)
        if kind == "rms_norm":
            return F.rms_norm(v.movedim(1, -1), (v.shape[1],), get("weight"), part[2]).movedim(-1, 1)
        if kind == "group_norm":
            return F.group_norm(v, part[1], get("weight"), get("bias"), part[3])
        if kind == "instance_norm":
            if v[0, 0].numel() == 1:  # which PyTorch's refuses
                return F.group_norm(v, v.shape[1], get("weight"), get("bias"), part[2])
            return F.instance_norm(v, weight=get("weight"), bias=get("bias"), eps=part[2])
        if kind == "softmax_over":
            return (F.log_softmax if part[2] else F.softmax)(v, self.axis(part[1] or "channels", v))
        if kind == "reduce":
            dims = [self.axis(a, v) for a in part[2]]
            return {"sum": torch.sum, "mean": torch.mean, "max": torch.amax}[part[1]](v, dims, keepdim=True)
        if kind == "adaptive_pool":
            which = ((F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d) if part[1] == "max" else
                     (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d))[part[2] - 1]
            return which(v.clone(memory_format=torch.contiguous_format), part[3])
        if kind == "prelu":
            return F.prelu(v, get("weight"))
        if kind in ("layer_scale", "scale_shift"):
            along = (1, -1) + (1,) * (v.dim() - 2)
            return v * get("weight").reshape(along) + (get("bias").reshape(along) if kind == "scale_shift" else 0)
        if kind in ("normalise", "denormalise"):
            offset, scale = (get(n) for n in (("minimum", "range") if part[1] else ("mean", "std")))
            if not part[2]:
                offset, scale = (n.reshape((-1,) + (1,) * (v.dim() - 2)) for n in (offset, scale))
            return (v - offset) / scale if kind == "normalise" else offset + scale * v
        if kind == "glu":
            if part[1] == "sigmoid":
                return F.glu(v, 1)
            a, b = v.chunk(2, 1)
            return a * {"silu": F.silu, "gelu": F.gelu, "relu": F.relu}[part[1]](b)
        if kind == "reparameterise":
            return self.reparameterise(*v.chunk(2, 1))
        if kind == "flatten":
            return v.flatten(1)
        if kind in generate.MOVES:
            return self.moved(part, v)
        if kind == "dropout":
            return v * self.mask(v, part[1]) if self.training else v
        if kind in generate.DROPOUTS:
            return self.drop_alike(kind, v, part[1]) if self.training else v
        if kind == "bump":
            return v / (1 + v * v / 4)
        if kind in generate.UNITS:
            return UNITS[kind](v)
        return {"relu": F.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "gelu": F.gelu,
                "softmax": lambda x: F.softmax(x, 1)}[kind](v)

    @staticmethod
    def moved(part, v):
        kind, given, rank = part[0], part[1], v.dim() - 2
        if kind == "slice":
            index = [slice(None)] * v.dim()
            index[given] = slice(*part[2:])
            return v[tuple(index)]
        if kind == "crop":
            return F.pad(v, [-b for b in reversed(given) for _ in range(2)])
        if kind == "pad":
            around = [n for b, a in zip(reversed(part[2]), reversed(part[3])) for n in (b, a)]
            if given == "zeros":
                return F.pad(v, around, value=part[4])
            return F.pad(v, around, mode=given)
        if kind == "flip":
            return v.flip(given)
        if kind == "permute":
            return v.permute(0, *given)
        if kind == "reshape":
            return v.reshape(v.shape[0], *given)
        if kind == "channel_shuffle":
            return v.reshape(v.shape[0], given, -1, *v.shape[2:]).transpose(1, 2).reshape(v.shape)
        if rank == 2:
            return (F.pixel_shuffle if kind == "pixel_shuffle" else F.pixel_unshuffle)(v, given)
        n, c, *extents = v.shape  # PyTorch has them of images only
        if kind == "pixel_shuffle":
            v = v.reshape(n, c // given**rank, *[given] * rank, *extents)
            order = [d for k in range(rank) for d in (2 + rank + k, 2 + k)]
            return v.permute(0, 1, *order).reshape(n, c // given**rank, *(e * given for e in extents))
        v = v.reshape(n, c, *(n for e in extents for n in (e // given, given)))
        order = [3 + 2 * k for k in range(rank)] + [2 + 2 * k for k in range(rank)]
        return v.permute(0, 1, *order).reshape(n, c * given**rank, *(e // given for e in extents))

    @staticmethod
    def axis(name, v):
        return 1 + generate.axis_at(name, v.dim() - 1)

    def drop_alike(self, kind, v, probability):
        """Whole channels, whole samples, or SELU's smallest value for what is dropped."""
        if kind == "alpha_dropout":  # torch's F.alpha_dropout, eq. 8 to 11 of Klambauer et al.
            kept, low = self.mask(v, probability) > 0, -1.7580993408473766
            a = ((1 - probability) * (1 + probability * low * low)) ** -0.5
            return a * torch.where(kept, v, low) - a * probability * low
        position = self.order.index(self.node - 1)
        count = v.shape[1] if kind == "channel_dropout" else 1
        kept = [[uniform(self.seed, self.step, position, n, c) >= probability for c in range(count)] for n in range(v.shape[0])]
        return v * torch.tensor(kept, dtype=torch.float64).reshape(-1, count, *[1] * (v.dim() - 2)) / (1 - probability)

    def mask(self, v, probability):
        channels, positions = v.shape[1], v[0, 0].numel()
        position = self.order.index(self.node - 1)
        kept = [[[uniform(self.seed, self.step, position, n, p * channels + c) >= probability
                  for p in range(positions)] for c in range(channels)] for n in range(v.shape[0])]
        return torch.tensor(kept, dtype=torch.float64).reshape(v.shape) / (1 - probability)


def difference(name, got, expected, allowed, scale=0.0):
    """A sentence where two tensors differ by more than is allowed."""
    error = (got - expected).norm().item()
    size = max(expected.norm().item(), scale)
    return [] if error <= allowed * max(size, 1e-3) else [f"{name}: error {error:.3g}, size {size:.3g}"]


def compare(path):
    dump = json.loads(path.read_text())
    network = Network(dump)
    tensor = lambda v: torch.tensor(v, dtype=torch.float64)
    inputs = [p for p in dump["description"]["parts"] if p[0] in generate.INPUTS]
    x = []
    for part, v in zip(inputs, dump["x"]):
        v = tensor(v).reshape(3, *generate.extents_of(part))
        x.append(v.long() if part[0] in generate.INTEGER_INPUTS else v.requires_grad_())
    wrong = []
    parts = json.dumps(dump["description"]["parts"])
    allowed = ALLOWED_NOISE if "reparameterise" in parts else ALLOWED_NORMALIZED if "batch_norm" in parts else ALLOWED
    with torch.no_grad():
        for k, y in enumerate(network.run(x, False, 0)):
            wrong += difference(f"infer, output {k}", tensor(dump["infer"][k]), y.flatten(), allowed)
    try:
        outputs = network.run(x, True, dump["pass"])
    except ValueError as error:  # PyTorch refuses statistics of one number
        print(f"{path.stem}: training left out: {error}")
        return wrong
    for k, y in enumerate(outputs):
        wrong += difference(f"forward, output {k}", tensor(dump["forward"][k]), y.detach().flatten(), allowed)
    loss = sum((y.flatten() * tensor(g)).sum() for y, g in zip(outputs, dump["d_y"]))
    if loss.requires_grad:
        loss.backward()
    gradients = {name: t.grad for name, t in network.tensors.items()}
    scale = sum(g.norm().item() ** 2 for g in gradients.values() if g is not None) ** 0.5
    for k, v in enumerate(x):
        if not v.requires_grad:  # integers
            continue
        expected = torch.zeros_like(v) if v.grad is None else v.grad
        wrong += difference(f"gradient of input {k}", tensor(dump["d_x"][k]), expected.flatten(), allowed, scale)
    for name, e in network.table.items():
        count = e["taps"] * e["channels"] * e["outputs"]
        source = tensor(dump["statistics" if e["buffer"] else "gradients"])[e["at"]:e["at"] + count]
        got = source.reshape(e["taps"], e["channels"], e["outputs"]).permute(2, 1, 0).reshape(e["shape"])
        if e["buffer"]:
            wrong += difference(name, got, network.tensors[name], ALLOWED_STATISTICS)
        elif gradients[name] is not None:
            wrong += difference("gradient of " + name, got, gradients[name], allowed, scale)
    return wrong


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
    bad = 0
    for path in files:
        wrong = compare(path)
        bad += bool(wrong)
        for sentence in wrong:
            print(f"{path.stem}: {sentence}")
    print(f"compare_torch: {len(files)} networks against PyTorch, {bad} differ")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
