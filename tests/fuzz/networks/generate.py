#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks: descriptions, and the C++ program that checks them.

usage: generate.py --seed S --count N [--first K] --output FILE.cpp
       generate.py --descriptions FILE.json [--first K] [--count N] [--output FILE.cpp]

A network is a *description*, one JSON object:
  parts      what stands between the angle brackets of Network<...>, see PARTS
  fusion, backends, bits, precision, element, labels, flat, layout, call, capacity, loss, rule, seed
             how it runs, what its caller gives, and the seed of parameters and data
Network K of seed S is always the same one. Its shapes are inferred here as well, so that it is valid by
construction; `boundaries` says which limits it meets.

PARTS (extents: channels first):
  ["input", E...]  ["named_input", TAG, E...]  ["integer_input", E...]  ["named_integer_input", TAG, E...]
  ["embedding", ENTRIES, CHANNELS]
  ["linear", OUT, BIAS]  ["linear", OUT, BIAS, true]: at every position
  ["positions", "learned" | "sinusoidal", BASE]
  ["attention", HEADS, MEMORY | null, {"causal", "mask": TAG | null, "dropout": P | null, "rotary": BASE | 0, "bias"}]
  ["encoder", CHANNELS, HEADS, FEEDFORWARD, {"activation", "norm_first", "epsilon", and those of attention but bias}]
  ["decoder", CHANNELS, HEADS, FEEDFORWARD, MEMORY, {as encoder}]
  ["conv", RANK, OUT, KERNEL, STRIDE, PADDING, BIAS] (lists of RANK numbers)
  ["general_conv", RANK, OUT, KERNEL, STRIDE, PADDING, BIAS, {"transposed", "dilation", "groups", "mode", "after",
   "output_padding"}]
  ["spectral_conv", OUT, MODES]
  ["sparse_product", NODES]  ["graph_conv", OUT, BIAS, NODES]: of all positions; of samples, with a matrix of one number
  ["recurrent", "rnn" | "rnn_relu" | "lstm" | "gru", HIDDEN, {"layers", "bidirectional", "bias", "initial": TAGS, "final":
   TAGS, "lengths": TAG | null}]
  ["pool", "max" | "average", RANK, SIZE, STRIDE, PADDING]  ["pool", ..., PADDING, {"ceil", "counts"}]  ["lp_pool", POWER, RANK, SIZE, STRIDE]
  ["unpool", RANK, SIZE, STRIDE, PADDING, {"ceil"}, TAG]
  ["local_response", SIZE, ALPHA, BETA, K]  ["global_pool"]  ["upsample", FACTOR]
  ["resize", FACTOR | EXTENTS, "linear" | "cubic", CORNERS]
  ["batch_norm", STATISTICS]  ["batch_norm", STATISTICS, EPSILON, MOMENTUM]  ["batch_norm", STATISTICS, EPSILON, MOMENTUM, AFFINE]
  ["layer_norm", AFFINE, EPSILON]  ["layer_norm", "weight", EPSILON]  ["rms_norm", AFFINE, EPSILON]
  ["group_norm", GROUPS, AFFINE, EPSILON]  ["instance_norm", AFFINE, EPSILON]  ["softmax_over", AXIS | null, LOGARITHM]
  ["reduce", "sum" | "mean" | "max", AXES]  ["adaptive_pool", "max" | "average", RANK, EXTENTS]
  ["relu"] ["tanh"] ["sigmoid"] ["gelu"] ["bump"]  [one of UNITS]  ["softmax"]  ["dropout" | one of DROPOUTS, P]
  ["prelu", PER_CHANNEL, INITIAL]  ["layer_scale", INITIAL]  ["scale_shift"]  ["glu", GATE]  ["reparameterise"]
  ["normalise" | "denormalise", BY_RANGE, PER_ELEMENT]
  ["multiply_by", TAG] ["combine", "subtract" | "plus" | "reparameterise_pair", TAG]
  ["flatten"]  ["slice", DIM, BEGIN, END | null, STEP]  ["crop", BORDERS]  ["pad", MODE, BEFORE, AFTER, FILL]  ["flip", DIMS]
  ["permute", DIMS]  ["reshape", EXTENTS]  ["pixel_shuffle", FACTOR]  ["pixel_unshuffle", FACTOR]  ["channel_shuffle", GROUPS]
  ["residual", MAIN, SHORTCUT | null]  ["branch", PATHS]  ["repeat", COUNT, PARTS]  ["recompute", PARTS]
  ["save", TAG] ["from", TAG] ["add_from", TAG] ["concat_from", TAG] ["output", TAG]
"""

import argparse
import json
import pathlib
import random
import sys

# The limits of fusion/rules.hpp.
WIDEST, MOST_LAYERS, SEGMENT_PARAMETERS = 128, 16, 160 * 1024
IMAGE_VALUES, IMAGE_WIDEST, IMAGE_PARAMETERS = 12 * 1024, 1024, 128 * 1024

INTEGER_INPUTS = ("integer_input", "named_integer_input")
NAMED_INPUTS = ("named_input", "named_integer_input")
INPUTS = ("input", "named_input") + INTEGER_INPUTS
# Parts that are no layer with a number in the names of parameters.
UNNUMBERED = INPUTS + ("save", "from", "add_from", "concat_from", "multiply_by", "output")
# Activations with one name here and in C++; those of KINKED have derivatives that jump.
UNITS = {"leaky_relu": "LeakyReLU<0.125>", "elu": "ELU<>", "celu": "CELU<1.5>", "selu": "SELU", "silu": "SiLU", "mish": "Mish",
         "softplus": "Softplus<2.0>", "log_sigmoid": "LogSigmoid", "softsign": "Softsign", "hard_tanh": "HardTanh<>",
         "relu6": "ReLU6", "hard_sigmoid": "HardSigmoid", "hard_swish": "HardSwish", "tanh_gelu": "TanhGELU"}
KINKED = ("relu", "prelu", "leaky_relu", "selu", "hard_tanh", "relu6", "hard_sigmoid", "hard_swish")
POINTWISE = ("relu", "tanh", "sigmoid", "gelu", "bump") + tuple(UNITS)
MOVES = ("slice", "crop", "pad", "flip", "permute", "reshape", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
AXES = ("channels", "depth", "height", "width")
DROPOUTS = {"channel_dropout": "ChannelDropout", "alpha_dropout": "AlphaDropout", "stochastic_depth": "StochasticDepth"}
GATES = {"rnn": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}
UNITS_OF_GLU = ("sigmoid", "silu", "gelu", "relu")
# Multiply-adds of one sample, numbers in one value, parameters, layers: so that a network compiles and runs in seconds.
MOST_WORK, MOST_SIZE, MOST_PARAMETERS, MOST_NODES = 600_000, 20_000, 200_000, 40


class Invalid(Exception):
    """A network that Phyllo refuses, or that is too large for a test."""


def product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def axis_at(axis, dimensions):
    """Where an axis is among (channels, extents...); None: it is not."""
    at = 0 if axis == "channels" else dimensions - 4 + AXES.index(axis)
    return at if axis == "channels" or at > 0 else None


def extents_of(part):
    """Of an input."""
    return part[2:] if part[0] in NAMED_INPUTS else part[1:]


def broadcast(a, b):
    """The shape of a product: either has its channels or one, and its positions or one."""
    result = b if product(b[1:]) > product(a[1:]) else a
    result = (max(a[0], b[0]),) + tuple(result[1:])
    for s in (a, b):
        if s[0] not in (1, result[0]) or product(s[1:]) != 1 and tuple(s[1:]) != result[1:]:
            raise Invalid("two shapes")
    return result


def can_broadcast(a, b):
    try:
        broadcast(a, b)
        return True
    except Invalid:
        return False


# ---- shapes and edges -------------------------------------------------------------------------------


class Graph:
    """The layers of a description in order, with their sources and shapes (channels, extents...)."""

    def __init__(self, parts):
        self.nodes = []  # {"kind", "part", "sources", "input", "output", "path"}
        self.tags, self.outputs, self.inputs = {}, [], []
        self.work = self.parameters = 0
        self.recomputes = False
        last = self.sequence(parts, None, "", top=True)
        if last is None:
            raise Invalid("no layers")
        self.named_outputs = bool(self.outputs)
        if not self.outputs:
            self.outputs.append((None, last))
        if len(self.nodes) > MOST_NODES:
            raise Invalid("too many layers")
        if self.work > MOST_WORK or self.parameters > MOST_PARAMETERS:
            raise Invalid("too much work")
        if any(self.is_integer(v) for _, v in self.outputs):
            raise Invalid("an output of integers")
        if len(self.inputs) > 1 and any(tag is None for tag, _ in self.inputs):
            raise Invalid("an input without a name")

    def shape(self, value):
        return self.nodes[value]["output"]

    def recurrent(self, part, v, path):
        _, cell, hidden, o = part
        s = self.shape(v)
        if len(s) > 2:
            raise Invalid("a sequence of images")
        directions = 1 + o["bidirectional"]
        places, states, rows = o["layers"] * directions, states_of(cell), GATES[cell] * hidden
        for tag in o["initial"] + ([o["lengths"]] if o["lengths"] else []):
            if tag not in self.tags:
                raise Invalid("an unknown name")
        given = [self.tags[tag] for tag in o["initial"]]
        if o["initial"] and len(given) != states or o["final"] and len(o["final"]) != states:
            raise Invalid("another number of states")
        if any(product(self.shape(g)[1:]) != 1 or self.shape(g)[0] != places * hidden or self.is_integer(g) for g in given):
            raise Invalid("initial states of another shape")
        if o["lengths"]:
            lengths = self.tags[o["lengths"]]
            if not self.is_integer(lengths) or product(self.shape(lengths)) != 1:
                raise Invalid("lengths of another shape")
            given.append(lengths)
        scans, bias = [], 2 * rows if o["bias"] else 0
        carried = states - (0 if o["lengths"] else 1) if o["final"] else 0
        for layer in range(o["layers"]):
            channels = self.shape(v)[0]
            for _ in range(directions):
                x = self.add(["projection"], [v], (rows,) + s[1:], path, rows * (channels + hidden) + bias,
                             rows * (channels + hidden) * product(s[1:]))
                scans.append(self.add(part, [x] + given, ((1 + carried) * hidden,) + s[1:], path))
            v = self.add(["states"], scans[-directions:], (directions * hidden,) + s[1:], path)
        for tag in o["final"]:
            if any(tag == name for name, _ in self.inputs):
                raise Invalid("the name of an input")
            self.tags[tag] = self.add(["states"], scans, (places * hidden,), path)
        return v

    def is_integer(self, value):
        return self.nodes[value]["kind"] in INTEGER_INPUTS

    def add(self, part, sources, output, path, parameters=0, work=0):
        if part[0] != "recurrent" and any(self.is_integer(s) != (part[0] == "embedding" or part[0] == "scores" and k == 2)
                                          for k, s in enumerate(sources)):
            raise Invalid("integers where numbers are wanted, or the reverse")
        if product(output) > MOST_SIZE or min(output) < 1:
            raise Invalid("too large")
        equal, uniform = self.equal_numbers(part, sources, output)
        groups = {"group_norm": lambda: part[1], "instance_norm": lambda: output[0], "layer_norm": lambda: 1}
        if part[0] in groups and (uniform or equal and product(output[1:]) > 1 and groups[part[0]]() == output[0]):
            raise Invalid("a normalisation of equal numbers, which shows nothing but their rounding")
        # Of numbers that are equal an interpolation makes some that differ by roundings, which then choose the maximum.
        blended = part[0] in ("resize", "inverse_fourier") or any(self.nodes[s]["blended"] for s in sources)
        if part[0] == "unpool":  # its maxima are those of the second value
            blended = self.nodes[sources[1]]["blended"]
        if blended and (part[0] in ("pool", "adaptive_pool", "reduce") and part[1] == "max" or part[0] == "unpool"):
            raise Invalid("a maximum of interpolated numbers")
        self.parameters += parameters
        self.work += work
        self.nodes.append({"blended": blended, "equal": equal, "uniform": uniform, "kind": part[0], "part": part, "sources": sources, "output": output, "path": path,
                           "input": self.shape(sources[0]) if sources else None, "parameters": parameters})
        return len(self.nodes) - 1

    def equal_numbers(self, part, sources, output):
        """Whether all positions have the same number in each channel, and whether all numbers are the same."""
        kind = part[0]
        if not sources:
            return product(output[1:]) == 1, False
        equal = all(self.nodes[s]["equal"] for s in sources)
        uniform = all(self.nodes[s]["uniform"] for s in sources) and kind not in ("concat", "add")
        if kind == "softmax_over" and self.shape(sources[0])[axis_at(part[1] or "channels", len(output))] == 1 or \
                kind == "softmax" and output[0] == 1:
            return True, True
        if kind == "layer_norm" and output[0] == 1 and not part[1] or product(output[1:]) == 1 and (
                kind == "instance_norm" and not part[1] or kind == "group_norm" and part[1] == output[0] and not part[2]):
            return True, True  # each number by itself becomes zero
        mixes = kind in ("linear", "conv", "general_conv", "sparse_product", "dropout", "flatten", "batch_norm") or kind in DROPOUTS or \
            kind in ("normalise", "denormalise") and part[2] or \
            kind == "pool" and any(part[5]) or kind == "unpool"
        return product(output[1:]) == 1 or equal and not mixes, \
            uniform and not mixes and kind not in ("normalise", "denormalise", "layer_norm", "rms_norm", "group_norm", "instance_norm", "embedding")

    def sequence(self, parts, current, path, top=False):
        number = 0
        for part in parts:
            here = f"{path}.{number}" if path else str(number)
            numbered = part[0] not in UNNUMBERED
            if part[0] in INPUTS and not top:
                raise Invalid("an input inside of a block")
            current = self.part(part, current, here)
            number += numbered
        return current

    def part(self, part, v, path):
        kind = part[0]
        if kind in INPUTS:
            named = kind in NAMED_INPUTS
            if not named and self.nodes:
                raise Invalid("Input is not first")
            v = self.add(part, [], tuple(extents_of(part)), path)
            self.inputs.append((part[1] if named else None, v))
            if named:
                if part[1] in self.tags:
                    raise Invalid("a name twice")
                self.tags[part[1]] = v
            return v
        if v is None:
            raise Invalid("a layer before every input")
        s = self.shape(v)
        rank = len(s) - 1
        if kind == "linear":
            if rank and len(part) < 4:
                raise Invalid("Linear on an image")
            count = s[0] * part[1]
            return self.add(part, [v], (part[1],) + s[1:], path, count + part[1] * part[2], count * product(s[1:]))
        if kind == "positions":
            if rank != 1:
                raise Invalid("positions of another rank")
            return self.add(part, [v], s, path, product(s) if part[1] == "learned" else 0)
        if kind == "attention":
            return self.attention(part[1], part[2], part[3], v, path)
        if kind in ("encoder", "decoder"):
            return self.transformer(part, v, path)
        if kind == "conv":
            return self.window(part, v, path, part[1], part[3], part[4], part[5], part[2])
        if kind == "general_conv":
            return self.general_conv(part, v, path)
        if kind == "spectral_conv":
            return self.spectral_conv(part, v, path)
        if kind in ("sparse_product", "graph_conv"):
            if part[-1] != product(s[1:]):
                raise Invalid("another number of nodes")
            v = self.add(["sparse_product"], [v], s, path, 0, 3 * product(s))
            return v if kind == "sparse_product" else self.part(["linear", *part[1:3], True], v, path)
        if kind == "recurrent":
            return self.recurrent(part, v, path)
        if kind == "pool":
            size = [part[3]] * part[2]
            if any(2 * p > part[3] for p in part[5]):
                raise Invalid("padding of more than half a window")
            return self.window(part, v, path, part[2], size, part[4], part[5], None, pool_options(part)["ceil"])
        if kind == "lp_pool":
            for inner in (["whole_power"], ["pool", "average", part[2], part[3], part[4], [0] * part[2]], ["root_of_sum"]):
                v = self.part(inner, v, path)
            return v
        if kind == "global_pool":
            if not rank:
                raise Invalid("no extents")
            return self.add(part, [v], (s[0],) + (1,) * rank, path)
        if kind == "upsample":
            if not rank:
                raise Invalid("no extents")
            return self.add(part, [v], (s[0],) + tuple(e * part[1] for e in s[1:]), path)
        if kind == "resize":
            if not rank or part[2] == "cubic" and rank != 2 or isinstance(part[1], list) and len(part[1]) != rank:
                raise Invalid("another rank")
            extents = part[1] if isinstance(part[1], list) else [e * part[1] for e in s[1:]]
            return self.add(part, [v], (s[0], *extents), path, 0, product(s[:1]) * product(extents) * 4)
        if kind in MOVES:
            return self.add(part, [v], self.moved(part, s), path)
        if kind == "embedding":
            if rank and s[0] != 1:
                raise Invalid("integers of several channels")
            return self.add(part, [v], (part[2],) + (s[1:] if rank else s), path, part[1] * part[2])
        if kind == "batch_norm":
            return self.add(part, [v], s, path, 2 * s[0] * is_affine(part))
        if kind in ("layer_norm", "rms_norm"):
            return self.add(part, [v], s, path, bool(part[1]) * (2 if kind == "layer_norm" and part[1] is True else 1) * s[0])
        if kind == "group_norm":
            if s[0] % part[1]:
                raise Invalid("groups that do not divide the channels")
            return self.add(part, [v], s, path, 2 * part[2] * s[0])
        if kind == "instance_norm":
            if not rank:
                raise Invalid("no extents")
            return self.add(part, [v], s, path, 2 * part[1] * s[0])
        if kind == "softmax_over":
            if part[1] and axis_at(part[1], len(s)) is None:
                raise Invalid("no such axis")
            return self.add(part, [v], s, path)
        if kind == "reduce":
            places = [axis_at(a, len(s)) for a in part[2]]
            if None in places:
                raise Invalid("no such axis")
            return self.add(part, [v], tuple(1 if i in places else e for i, e in enumerate(s)), path)
        if kind == "adaptive_pool":
            if rank != part[2]:
                raise Invalid("another rank")
            return self.add(part, [v], (s[0], *part[3]), path)
        if kind in POINTWISE or kind in ("softmax", "dropout", "whole_power", "root_of_sum", "local_response") or kind in DROPOUTS:
            return self.add(part, [v], s, path)
        if kind == "prelu":
            return self.add(part, [v], s, path, s[0] if part[1] else 1)
        if kind in ("layer_scale", "scale_shift"):
            return self.add(part, [v], s, path, s[0] * (1 + (kind == "scale_shift")))
        if kind in ("normalise", "denormalise"):
            return self.add(part, [v], s, path)
        if kind in ("glu", "reparameterise"):
            if s[0] % 2:
                raise Invalid("an odd number of channels")
            return self.add(part, [v], (s[0] // 2,) + s[1:], path)
        if kind == "flatten":
            return self.add(part, [v], (product(s),), path)
        if kind == "residual":
            a = self.sequence(part[1], v, path + ".main")
            b = self.sequence(part[2] or [], v, path + ".shortcut")
            return self.join("add", [a, b], path + ".add")
        if kind == "branch":
            if not 2 <= len(part[1]) <= 4:
                raise Invalid("paths")
            return self.join("concat", [self.sequence(p, v, f"{path}.{i}") for i, p in enumerate(part[1])],
                             path + ".concat")
        if kind == "repeat":
            for i in range(part[1]):
                v = self.sequence(part[2], v, f"{path}.{i}")
            return v
        if kind == "recompute":
            self.recomputes = True
            if len(part[1]) != 1:
                return self.sequence(part[1], v, path)
            if part[1][0][0] in UNNUMBERED:
                raise Invalid("a part without a number")
            return self.part(part[1][0], v, path)
        if kind == "save":
            if any(tag == part[1] for tag, _ in self.inputs):
                raise Invalid("the name of an input")
            self.tags[part[1]] = v
            return v
        if kind == "output":
            if any(tag == part[1] for tag, _ in self.outputs) or len(self.outputs) == 8:
                raise Invalid("outputs")
            self.outputs.append((part[1], v))
            return v
        if part[-1] not in self.tags:
            raise Invalid("an unknown name")
        saved = self.tags[part[-1]]
        if kind in ("multiply_by", "combine"):
            return self.add(part, [v, saved], broadcast(self.shape(v), self.shape(saved)), path)
        if kind == "unpool":
            if self.shape(v) != pooled_shape(part, self.shape(saved)):
                raise Invalid("another image")
            return self.add(part, [v, saved], self.shape(saved), path)
        if kind == "from":
            return saved
        return self.join("add" if kind == "add_from" else "concat", [v, saved], path)

    def attention(self, heads, memory, o, v, path):
        s = self.shape(v)
        channels = s[0]
        if len(s) != 2 or channels % heads or o["rotary"] and (channels // heads % 2 or memory):
            raise Invalid("heads")
        if memory is not None and memory not in self.tags:
            raise Invalid("an unknown name")

        def linear(source, out, name):
            return self.part(["linear", out, o.get("bias", True), True], source, path + name)
        queries = keys = linear(v, channels * (1 if memory else 3), "")
        if memory:
            saved = self.tags[memory]
            if len(self.shape(saved)) != 2 or self.shape(saved)[0] != channels:
                raise Invalid("another memory")
            keys = linear(saved, 2 * channels, "")
        if o["rotary"]:
            queries = keys = self.add(["rotary"], [keys], self.shape(keys), path)
        sources, positions = [queries, keys], self.shape(keys)[1]
        if o["mask"]:
            if o["mask"] not in self.tags or product(self.shape(self.tags[o["mask"]])) != positions:
                raise Invalid("another mask")
            sources.append(self.tags[o["mask"]])
        work = channels * s[1] * positions
        p = self.add(["scores"], sources, (positions, heads, s[1]), path, 0, work)
        p = self.add(["softmax"], [p], self.shape(p), path)
        if o["dropout"] is not None:
            p = self.add(["dropout", o["dropout"]], [p], self.shape(p), path)
        return linear(self.add(["values"], [p, keys], s, path, 0, work), channels, ".out_proj")

    def transformer(self, part, v, path):
        _, channels, heads, forward = part[:4]
        o = part[-1]
        if self.shape(v)[0] != channels:
            raise Invalid("other channels")

        def dropout(x):
            return x if o["dropout"] is None else self.part(["dropout", o["dropout"]], x, path)

        def sublayer(x, inner):
            norm = ["layer_norm", True, o["epsilon"]]
            if o["norm_first"]:
                return self.join("add", [x, dropout(inner(self.part(norm, x, path)))], path)
            return self.part(norm, self.join("add", [x, dropout(inner(x))], path), path)

        def feed(x):
            x = dropout(self.part([o["activation"]], self.part(["linear", forward, True, True], x, path), path))
            return self.part(["linear", channels, True, True], x, path)
        v = sublayer(v, lambda x: self.attention(heads, None, o, x, path))
        if part[0] == "decoder":
            cross = {**o, "causal": False, "mask": None, "rotary": 0}
            v = sublayer(v, lambda x: self.attention(heads, part[4], cross, x, path))
        return sublayer(v, feed)

    def window(self, part, v, path, rank, size, stride, padding, outputs, ceil=False):
        s = self.shape(v)
        if len(s) - 1 != rank:
            raise Invalid("another rank")
        if any(e + 2 * p < k for e, k, p in zip(s[1:], size, padding)):
            raise Invalid("a window that does not fit")
        extents = tuple((e + 2 * p - k + ceil * (t - 1)) // t + 1 for e, k, t, p in zip(s[1:], size, stride, padding))
        if ceil:  # the last window begins in the image or in front of it
            extents = tuple(n - ((n - 1) * t >= e + p) for n, e, t, p in zip(extents, s[1:], stride, padding))
        if outputs is None:
            return self.add(part, [v], (s[0],) + extents, path, 0, product(size) * s[0] * product(extents))
        count = product(size) * s[0] * outputs
        return self.add(part, [v], (outputs,) + extents, path, count + outputs * part[6], count * product(extents))

    @staticmethod
    def moved(part, s):
        """The shape behind a layer that moves numbers."""
        kind, given, rank = part[0], part[1], len(s) - 1
        if kind == "slice":
            axis = (given + rank + 2 if given < 0 else given) - 1
            if not 0 <= axis <= rank:
                raise Invalid("a dimension that is not there")
            return s[:axis] + (len(range(s[axis])[part[2]:part[3]:part[4]]),) + s[axis + 1:]
        if kind == "flip":
            if len({d % (rank + 2) for d in given}) < len(given) or any(not 0 < d % (rank + 2) for d in given) or \
                    any(abs(d) > rank + 1 for d in given):
                raise Invalid("a dimension that is not there")
            return s
        if kind == "permute":
            if sorted(given) != list(range(1, rank + 2)):
                raise Invalid("no order of the dimensions")
            return tuple(s[d - 1] for d in given)
        if kind == "reshape":
            rest = product(s) // product(e for e in given if e > 0)
            to = tuple(rest if e < 0 else e for e in given)
            if product(to) != product(s):
                raise Invalid("another number of elements")
            return to
        if kind == "channel_shuffle":
            if s[0] % given:
                raise Invalid("channels that groups do not divide")
            return s
        if not rank:
            raise Invalid("no extents")
        if kind == "crop":
            return s[:1] + tuple(e - 2 * b for e, b in zip(s[1:], given))
        if kind == "pad":
            most = {"reflect": -1, "circular": 0}.get(given, 99)
            if any(n > e + most for e, b, a in zip(s[1:], part[2], part[3]) for n in (b, a)):
                raise Invalid("more padding than there is to mirror")
            return s[:1] + tuple(b + e + a for e, b, a in zip(s[1:], part[2], part[3]))
        block = given ** rank
        if kind == "pixel_shuffle":
            if s[0] % block:
                raise Invalid("channels that are no blocks")
            return (s[0] // block,) + tuple(e * given for e in s[1:])
        if any(e % given for e in s[1:]):
            raise Invalid("extents that are no blocks")
        return (s[0] * block,) + tuple(e // given for e in s[1:])

    def spectral_conv(self, part, v, path):
        _, out, modes = part
        s, rank = self.shape(v), len(modes)
        if len(s) - 1 != rank:
            raise Invalid("another rank")
        if any(m > (e // 2 + 1 if d == rank - 1 else e // 2) for d, (m, e) in enumerate(zip(modes, s[1:]))):
            raise Invalid("more modes than there are")
        kept = [m * (1 + (d < rank - 1)) for d, m in enumerate(modes)]
        shape = [2 * s[0], *s[1:]]
        for d in reversed(range(rank)):
            work = 2 * product(shape) * kept[d]
            shape[1 + d] = kept[d]
            v = self.add(["fourier"], [v], tuple(shape), path, 0, work)
        shape[0] = 2 * out
        v = self.add(["spectral_product"], [v], tuple(shape), path, 2 * product(kept) * s[0] * out, 4 * product(kept) * s[0] * out)
        for d in range(rank):
            shape[1 + d] = s[1 + d]
            if d == rank - 1:
                shape[0] = out
            v = self.add(["inverse_fourier"], [v], tuple(shape), path, 0, 4 * product(shape) * kept[d])
        return v

    def general_conv(self, part, v, path):
        _, rank, out, kernel, stride, padding, bias, o = part
        s, groups = self.shape(v), o["groups"]
        if len(s) - 1 != rank:
            raise Invalid("another rank")
        if s[0] % groups or out % groups:
            raise Invalid("channels that groups do not divide")
        reach = [d * (k - 1) + 1 for d, k in zip(o["dilation"], kernel)]
        if o["transposed"]:
            if any(p > 0 and p >= max(t, d) for p, t, d in zip(o["output_padding"], stride, o["dilation"])):
                raise Invalid("output padding")
            extents = tuple((e - 1) * t - 2 * p + k + q for e, t, p, k, q in
                            zip(s[1:], stride, padding, reach, o["output_padding"]))
            windows = s[1:]
        else:
            most = [e - (o["mode"] == "reflect") if o["mode"] in ("reflect", "circular") else 99 for e in s[1:]]
            if any(p > m or a > m for p, a, m in zip(padding, o["after"], most)):
                raise Invalid("more padding than there is to mirror")
            extents = tuple((e + p + a - k) // t + 1 if e + p + a >= k else 0 for e, p, a, k, t in
                            zip(s[1:], padding, o["after"], reach, stride))
            windows = extents
        if min(extents) < 1:
            raise Invalid("a window that does not fit")
        count = product(kernel) * s[0] * out // groups
        return self.add(part, [v], (out,) + extents, path, count + out * bias, count * product(windows))

    def join(self, kind, values, path):
        shapes = [self.shape(v) for v in values]
        if kind == "add":
            if shapes[0] != shapes[1]:
                raise Invalid("two shapes")
            return self.add([kind], values, shapes[0], path)
        if any(s[1:] != shapes[0][1:] for s in shapes):
            raise Invalid("two extents")
        return self.add([kind], values, (sum(s[0] for s in shapes),) + shapes[0][1:], path)

    # -- what matters to a trainer and to a call in a kernel

    def followed(self, v):
        """The value that a chain of reshapes stands for."""
        while self.nodes[v]["kind"] in MOVES + ("flatten",):
            v = self.nodes[v]["sources"][0]
        return v

    def is_trainable(self):
        values = [self.followed(v) for _, v in self.outputs]
        return len(set(values)) == len(values) and all(self.nodes[v]["sources"] for v in values) and self.parameters > 0

    def widest(self):
        return max(product(n["output"]) for n in self.nodes)

    def rounds_coarsely(self):
        """Results may lose more than what rounding inputs and parameters shows: see network_check.cpp."""
        kinds = [n["kind"] for n in self.nodes]
        products = sum(kind in ("linear", "conv", "general_conv") for kind in kinds)
        # Behind several products a softmax is nearly one and zeros, and one of one number is one. Its gradient is then a
        # difference of nearly equal numbers: PyTorch's in float32 is off by half of it where it is 1e-10.
        return any(kind.endswith("_norm") or kind in ("recurrent", "root_of_sum", "softmax", "softmax_over")
                   for kind in kinds) or products >= 8 and ("tanh" in kinds or "sigmoid" in kinds)

    def longest_sum(self):
        longest = 1
        for n in self.nodes:
            positions = product(n["output"][1:])
            if n["kind"] == "linear":
                longest = max(longest, n["input"][0], n["output"][0])
            elif n["kind"] in ("scores", "values"):
                longest = max(longest, *n["input"], *n["output"])
            elif n["kind"] in ("conv", "general_conv"):
                taps = product(n["part"][3])
                longest = max(longest, taps * n["input"][0], taps * n["output"][0], positions, product(n["input"][1:]))
            elif n["kind"] == "projection":
                longest = max(longest, (n["input"][0] + n["output"][0]) * positions)
            else:
                longest = max(longest, positions, n["output"][0])
            if n["kind"] in ("group_norm", "instance_norm", "reduce", "adaptive_pool"):
                longest = max(longest, product(n["input"]))
        return longest

    def boundaries(self, description):
        """The boundary classes that a network meets, each once."""
        found = {"computed again"} if self.recomputes else set()
        readers = [0] * len(self.nodes)
        for n in self.nodes:
            for s in n["sources"]:
                readers[s] += 1
        read = [False] * len(self.nodes)
        for _, v in self.outputs:
            read[v] = True
        for i in reversed(range(len(self.nodes))):
            if read[i]:
                for s in self.nodes[i]["sources"]:
                    read[s] = True
        depth = sum(n["kind"] not in POINTWISE + INPUTS + MOVES + tuple(DROPOUTS) + ("dropout", "flatten") for n in self.nodes)
        if 15 <= depth <= 17:
            found.add(f"depth {depth}")
        for i, n in enumerate(self.nodes):
            shape = n["output"]
            if n["kind"] in INPUTS:
                if not read[i]:
                    found.add("dead input")
                if len(shape) > 1 and shape[0] == 1:
                    found.add("image of one channel" if not self.is_integer(i) else "table of a map")
                if self.is_integer(i) and readers[i] > 1:
                    found.add("two tables of one input")
            elif not read[i]:
                found.add("dead layer")
            found.update(f"spatial extent {e}" for e in shape[1:] if e <= 3)
            if n["kind"] == "embedding" and n["part"][1] == 1:
                found.add("table of one entry")
            if n["kind"] == "embedding" and product(shape[1:]) == 1:
                found.add("table on one position")
            if n["kind"] == "resize" and shape != n["input"]:
                found.add(n["part"][2] + " interpolation" + (", corners" if n["part"][3] else ""))
                if any(a < b for a, b in zip(shape[1:], n["input"][1:])):
                    found.add("interpolation to fewer numbers")
            if n["kind"] == "pool" and any((m - 1) * t + n["part"][3] > e + 2 * p for m, t, e, p in
                                           zip(shape[1:], n["part"][4], n["input"][1:], n["part"][5])):
                found.add("pooling beyond the padding")
            if n["kind"] == "unpool":
                found.add("unpooling" + (" of padded windows" if any(n["part"][4]) else ""))
            if n["kind"] == "pool" and not pool_options(n["part"])["counts"] and any(n["part"][5]):
                found.add("average without padding")
            if n["kind"] == "root_of_sum":
                found.add("pooling of powers")
            if n["kind"] in DROPOUTS:
                found.add(n["kind"].replace("_", " "))
            if n["kind"] == "batch_norm" and not is_affine(n["part"]) or n["kind"] == "layer_norm" and n["part"][1] == "weight":
                found.add("normalisation without " + ("parameters" if n["kind"] == "batch_norm" else "bias"))
            if n["kind"] in ("layer_norm", "rms_norm") and shape[0] in (1, 17, 128, 129):
                found.add(f"rows of {shape[0]} channels")
            if n["kind"] in MOVES:
                found.add(n["kind"] + (" " + n["part"][1] if n["kind"] == "pad" else ""))
                alone = all(sum(e > 1 for e in t) == 1 or t[0] == 1 for t in (shape, n["input"]))
                if n["kind"] in ("reshape", "permute") and alone and shape != n["input"]:
                    found.add("alias of other extents")
                    if self.nodes[n["sources"][0]]["kind"] in INPUTS:
                        found.add("alias of an input")
                    if any(v == i for _, v in self.outputs):
                        found.add("alias as output")
            if n["kind"] in ("group_norm", "instance_norm"):
                groups = n["part"][1] if n["kind"] == "group_norm" else shape[0]
                found.add("one group" if groups == 1 else "groups of one channel" if groups == shape[0] else "groups of channels")
            if n["kind"] == "softmax_over":
                found.add("softmax over " + ("an extent" if n["part"][1] not in (None, "channels") else "channels"))
                if n["part"][2]:
                    found.add("logarithm of a softmax")
            if n["kind"] == "reduce":
                found.add("reduced channels" if "channels" in n["part"][2] else "reduced extents")
                found.add("reduced by " + n["part"][1])
            if n["kind"] == "adaptive_pool":
                found.add("adaptive windows " + ("overlap" if any(e % o for e, o in zip(n["input"][1:], shape[1:])) else "side by side"))
            if n["kind"] == "scores":
                found.add("attention" if n["sources"][0] == n["sources"][1] else "attention to a saved value")
                if len(n["sources"]) > 2:
                    found.add("padding mask")
                if shape[0] == 1 or shape[0] > 64:
                    found.add("attention to one key" if shape[0] == 1 else "more keys than a block")
            if n["kind"] == "recurrent":
                o = n["part"][3]
                found.add(n["part"][1])
                found.update(f"recurrent, {name}" for name in ("bidirectional", "initial", "final", "lengths") if o[name])
                if o["layers"] > 1:
                    found.add("recurrent, layers")
                if product(shape[1:]) == 1:
                    found.add("recurrent, one time")
            if n["kind"] == "inverse_fourier":
                found.add("inverse transform of an odd length" if any(e % 2 for e in shape[1:]) else "inverse transform of even lengths")
            if n["kind"] == "general_conv":
                o = n["part"][7]
                found.add("transposed convolution" if o["transposed"] else "padding " + o["mode"])
                if any(d > 1 for d in o["dilation"]):
                    found.add("dilation")
                if o["groups"] > 1:
                    found.add("depthwise" if o["groups"] == n["input"][0] == shape[0] else "groups")
                if list(o["after"]) != list(n["part"][5]):
                    found.add("padding after")
                if any(o["output_padding"]):
                    found.add("output padding")
            if n["kind"] in ("glu", "reparameterise"):
                found.add("halves of channels")
            if n["kind"] == "reparameterise" or n["part"][:2] == ["combine", "reparameterise_pair"]:
                found.add("noise")
            if n["kind"] in ("multiply_by", "combine"):
                if n["sources"][0] == n["sources"][1]:
                    found.add("map of one value twice")
                for t in (self.nodes[t]["output"] for t in n["sources"]):
                    if product(t[1:]) < product(shape[1:]):
                        found.add("gate of channels")
                    if t[0] < shape[0]:
                        found.add("gate of positions")
            if n["kind"] in ("linear", "conv", "embedding") and shape[0] in (1, 2, 16, 17, 127, 128, 129):
                found.add(f"width {shape[0]}")
            if readers[i] > 1:
                found.add("value read twice")
            if n["kind"] in ("conv", "pool"):
                before = n["input"][1:]
                size, stride, padding = (n["part"][3:6] if n["kind"] == "conv" else
                                         ([n["part"][3]] * n["part"][2], n["part"][4], n["part"][5]))
                if tuple(size) == tuple(before) and not any(padding):
                    found.add("kernel = extent")
                if any(t > k for t, k in zip(stride, size)):
                    found.add("stride > kernel")
                if any(k == 1 and p > 0 for k, p in zip(size, padding)):
                    found.add("padding on one tap")
                if any(p >= k for k, p in zip(size, padding)):
                    found.add("padding >= kernel")
                if product(before) == 1:
                    found.add("window on one position")
                if product(shape[1:]) == 1 and product(before) > 1:
                    found.add("window to one position")
            if n["kind"] == "flatten" and i + 1 < len(self.nodes):
                source = self.nodes[n["sources"][0]]["output"]
                found.add("Flatten of one channel" if source[0] == 1 and len(source) > 1 else
                          "Flatten of one position" if product(source[1:]) == 1 else "Flatten of an image")
                if self.nodes[n["sources"][0]]["kind"] in INPUTS:
                    found.add("Flatten of the input")
                if IMAGE_WIDEST - 32 <= product(source) <= IMAGE_WIDEST + 32:
                    found.add("image segment, widest" + (" kept" if product(source) <= IMAGE_WIDEST else " passed"))
        ends = [v for _, v in self.outputs]
        if any(readers[v] > 0 for v in ends):
            found.add("head on an intermediate value")
        if len({self.followed(v) for v in ends}) < len(ends):
            found.add("one value, two outputs")
        for name, total, limit in (("segment, parameters", self.parameters, SEGMENT_PARAMETERS),
                                   ("image segment, parameters", self.parameters, IMAGE_PARAMETERS),
                                   ("image segment, values", self.values(), IMAGE_VALUES)):
            if 0.95 * limit <= total <= 1.05 * limit:
                found.add(name + (" kept" if total <= limit else " passed"))
        if len(self.inputs) > 1:
            found.add("several inputs")
        if len({self.is_integer(v) for _, v in self.inputs}) > 1:
            found.add("integers beside numbers")
        if len(ends) > 1:
            found.add("several outputs")
        if description["capacity"] < 49:
            found.add("inference in parts")
        return sorted(found)

    def values(self):
        """Numbers of one sample in the steps that an image segment keeps."""
        total = product(self.nodes[0]["output"])
        for n in self.nodes:
            if n["kind"] in ("linear", "conv", "general_conv", "pool", "global_pool"):
                total += product(n["output"])
        return total


def pool_options(pool):
    return pool[6] if len(pool) > 6 else {"ceil": False, "counts": True}


def pooled_shape(unpool, s):
    """What a maximum pooling makes of shape s, whose inverse a part is."""
    _, rank, size, stride, padding, o, _ = unpool
    if len(s) - 1 != rank or any(t < size for t in stride):
        raise Invalid("windows that overlap, or of another rank")
    g = Graph.__new__(Graph)
    g.nodes, g.tags, g.outputs, g.inputs, g.work, g.parameters = [], {}, [], [], 0, 0
    v = g.part(["named_input", "a", *s], None, "")
    return g.shape(g.part(["pool", "max", rank, size, stride, padding] + ([{"ceil": True, "counts": True}] if o["ceil"] else []), v, ""))


def is_affine(batch_norm):
    return len(batch_norm) < 5 or batch_norm[4]


def states_of(cell):
    return 2 if cell == "lstm" else 1


# ---- drawing ---------------------------------------------------------------------------------------------


class Draw:
    """One random network."""

    def __init__(self, rng):
        self.rng = rng
        self.tag = 0
        self.has_tables = False  # whether inputs may be integers: in one of four networks that meet no rare boundary

    def new_tag(self):
        self.tag += 1
        return f"t{self.tag}"

    def width(self, image=False):
        r = self.rng
        if image:
            return r.choice((1, 1, 2, 2, 3, 4, 5, 8, 9, 16, 17))
        if r.random() < 0.15:
            return r.choice((33, 64, 65, 100))
        return r.choice((1, 1, 2, 2, 3, 4, 7, 10, 16, 16, 17, 17, 32, 127, 128, 129))

    def extents(self, rank):
        r = self.rng
        most = {1: 17, 2: 9, 3: 5}[rank]
        return [r.choice((1, 1, 2, 2, 3, 3, r.randint(1, most), r.randint(1, most))) for _ in range(rank)]

    def conv(self, s):
        r, rank = self.rng, len(s) - 1
        style = r.random()
        if style < 0.2:  # as large as its input
            kernel, stride, padding = list(s[1:]), [1] * rank, [0] * rank
        elif style < 0.35:  # one tap
            kernel, stride = [1] * rank, [r.choice((1, 1, 2, 3))] * rank
            padding = [r.choice((0, 0, 1, 1, 2)) for _ in range(rank)]
        else:
            kernel = [r.choice((1, 2, 2, 3, 3, 4, 5)) for _ in range(rank)]
            if r.random() < 0.5:
                kernel = [kernel[0]] * rank
            padding = [r.choice((0, 0, 1, 1, k // 2, k - 1, k)) for k in kernel]
            stride = [r.choice((1, 1, 1, 2, 3)) for _ in range(rank)]
            if r.random() < 0.1:
                stride = [k + 1 for k in kernel]
            for d in range(rank):
                kernel[d] = min(kernel[d], s[1 + d] + 2 * padding[d])
        return ["conv", rank, self.width(True), kernel, stride, padding, r.random() < 0.7]

    def spectral_conv(self, s):
        if min(s[1:-1], default=2) < 2:  # both signs of a frequency need two numbers
            return self.general_conv(s)
        most = [e // 2 for e in s[1:-1]] + [s[-1] // 2 + 1]
        return ["spectral_conv", self.width(True), [self.rng.choice((1, m, self.rng.randint(1, m))) for m in most]]

    def general_conv(self, s):
        r, rank = self.rng, len(s) - 1
        transposed = r.random() < 0.4
        groups = r.choice([n for n in (1, 1, 2, 3, s[0]) if s[0] % n == 0])
        kernel = [r.choice((1, 2, 2, 3, 3, 4)) for _ in range(rank)]
        dilation = [r.choice((1, 1, 2, 3)) for _ in range(rank)]
        stride = [r.choice((1, 1, 2, 3)) for _ in range(rank)]
        padding = [r.choice((0, 0, 1, 2, k - 1)) for k in kernel]
        mode = "zeros" if transposed else r.choice(("zeros", "zeros", "reflect", "replicate", "circular"))
        if mode in ("reflect", "circular"):
            padding = [min(p, e - (mode == "reflect")) for p, e in zip(padding, s[1:])]
        after = padding if transposed or r.random() < 0.7 else [r.choice((0, p)) for p in padding]
        output = [0] * rank
        for d in range(rank):
            if transposed:
                least = 1 - (s[1 + d] - 1) * stride[d] + 2 * padding[d]
                kernel[d] = max(kernel[d], -(-(least - 1) // dilation[d]) + 1)
                output[d] = r.choice((0, 0, max(stride[d], dilation[d]) - 1))
            else:
                kernel[d] = min(kernel[d], (s[1 + d] + padding[d] + after[d] - 1) // dilation[d] + 1)
        each = r.choice((1, 1, 2, 3)) if groups > 4 else max(1, self.width(True) // groups)
        return ["general_conv", rank, groups * each, kernel, stride, padding, r.random() < 0.7,
                {"transposed": transposed, "dilation": dilation, "groups": groups, "mode": mode, "after": after,
                 "output_padding": output}]

    def move(self, s):
        """A layer that moves the numbers of a value of shape s."""
        r, rank = self.rng, len(s) - 1
        dims = list(range(1, rank + 2))
        kind = r.choice(("slice", "slice", "flip", "permute", "reshape", "reshape", "alias", "alias", "channel_shuffle") +
                        (("crop", "pad", "pad", "pad", "pixel_shuffle", "pixel_unshuffle") if rank else ()))
        if kind == "slice":
            axis = r.choice(dims)
            n = s[axis - 1]
            begin = r.choice((0, 0, 1, n // 2, -1, -2))
            return [kind, r.choice((axis, axis - rank - 2)), begin, r.choice((None, None, -1, n // 2 + 1, n + 3)), r.choice((1, 1, 2, 3))]
        if kind == "flip":
            return [kind, [d - (rank + 2) * r.choice((0, 1)) for d in r.sample(dims, r.randint(1, len(dims)))]]
        if kind == "permute":
            return [kind, r.sample(dims, len(dims))]
        if kind == "alias":  # one channel, or one position
            size, other = product(s), r.choice([d for d in range(1, min(product(s), 40) + 1) if product(s) % d == 0])
            return ["reshape", r.choice(([size], [1, size], [1, other, size // other], [-1, 1, 1], [s[0], -1], [s[0], 1, -1]))]
        if kind == "reshape":
            left, extents = product(s), []
            for _ in range(r.randint(0, 3)):
                extents.append(r.choice([d for d in range(1, min(left, 40) + 1) if left % d == 0]))
                left //= extents[-1]
            return [kind, extents + [r.choice((left, -1))]]
        if kind == "channel_shuffle":
            return [kind, r.choice([g for g in range(1, min(s[0], 9) + 1) if s[0] % g == 0])]
        if kind == "crop":
            return [kind, [min(r.choice((0, 1, 2)), (e - 1) // 2) for e in s[1:]]]
        if kind == "pad":
            mode = r.choice(("zeros", "reflect", "replicate", "circular"))
            def border(e):
                return min(r.choice((0, 1, 1, 2, 3, e)), {"reflect": e - 1, "circular": e}.get(mode, 4))
            before = [border(e) for e in s[1:]]
            after = before if r.random() < 0.4 else [border(e) for e in s[1:]]
            return [kind, mode, before, after, r.choice((0.0, 0.0, 1.5)) if mode == "zeros" else 0.0]
        factors = [f for f in (3, 2, 1) if (s[0] % f ** rank == 0 if kind == "pixel_shuffle" else all(e % f == 0 for e in s[1:]))]
        return [kind, factors[0] if r.random() < 0.8 else 1]

    def pool(self, s):
        r, rank = self.rng, len(s) - 1
        if r.random() < 0.15:
            return ["global_pool"]
        size = r.choice((1, 2, 2, 2, 3, 3, min(s[1:])))
        padding = [r.choice((0, 0, 0, size // 2)) for _ in range(rank)]
        while any(e + 2 * p < size for e, p in zip(s[1:], padding)):
            size -= 1
            padding = [min(p, size // 2) for p in padding]
        size = max(size, 1)
        stride = [size] * rank if r.random() < 0.6 else [r.choice((1, 2, size + 1)) for _ in range(rank)]
        if r.random() < 0.12 and all(e >= size for e in s[1:]):
            return ["lp_pool", r.choice((1, 2, 2)), rank, size, stride]
        which = r.choice(("max", "average"))
        if r.random() < 0.35 and all(e >= size for e in s[1:]):  # PyTorch refuses some others
            return ["pool", which, rank, size, stride, padding, {"ceil": r.random() < 0.6, "counts": which == "max" or r.random() < 0.5}]
        return ["pool", which, rank, size, stride, padding]

    def group_norm(self, s):
        r = self.rng
        options = [r.random() < 0.7, r.choice((1e-5, 1e-5, 1e-3))]
        if len(s) > 1 and r.random() < 0.3:
            return ["instance_norm"] + options
        divisors = [n for n in range(1, s[0] + 1) if s[0] % n == 0]
        return ["group_norm", r.choice((1, divisors[-1], r.choice(divisors), r.choice(divisors)))] + options

    def resize(self, s):
        """An interpolation."""
        r, rank = self.rng, len(s) - 1
        size = r.choice((1, 2, 2, 3)) if r.random() < 0.5 else [r.choice((1, 2, 3, e, e + 1, 2 * e - 1, max(1, e - 1), max(1, e // 3), 3 * e)) for e in s[1:]]
        return ["resize", size, "cubic" if rank == 2 and r.random() < 0.5 else "linear", r.random() < 0.4]

    def reduction(self, s):
        """Axes, or an adaptive pooling."""
        r, rank = self.rng, len(s) - 1
        if rank and r.random() < 0.5:
            out = [r.choice((1, 2, 3, e, max(1, e - 1), max(1, e // 2), e + 1)) for e in s[1:]]
            return ["adaptive_pool", r.choice(("max", "average")), rank, out]
        axes = ["channels"] + list(AXES[4 - rank:])
        return ["reduce", r.choice(("sum", "mean", "max")), r.sample(axes, r.randint(1, min(2, len(axes))))]

    def softmax(self, s):
        r = self.rng
        if r.random() < 0.3:
            return ["softmax"]
        axes = [None, "channels"] + list(AXES[5 - len(s):]) * 2
        axis = r.choice(axes)
        return ["softmax_over", axis, axis is None or r.random() < 0.5]

    def norm(self, s=None):
        r = self.rng
        if s and r.random() < 0.4:
            return self.group_norm(s)
        if r.random() < 0.4:
            return self.batch_norm() if r.random() < 0.3 else ["batch_norm", None]
        kind = r.choice(("layer_norm", "layer_norm", "rms_norm"))
        return [kind, "weight" if kind == "layer_norm" and r.random() < 0.15 else r.random() < 0.75, r.choice((1e-5, 1e-5, 1e-3))]

    def batch_norm(self):
        r = self.rng
        options = [r.choice((1e-5, 1e-3)), r.choice((0.1, 0.5, 1.0)), r.random() < 0.3] if r.random() < 0.6 else []
        return ["batch_norm", r.choice((None, "Local", "Global"))] + options

    def dropout(self):
        r = self.rng
        return [r.choice(("dropout",) * 3 + tuple(DROPOUTS)), r.choice((0.0, 0.25, 0.5))]

    def table(self, channels):
        return ["embedding", self.rng.choice((1, 2, 3, 7, 17, 40, 128, 129)), channels]

    def begin(self, channels, extents, tag=None):
        """An input, or integers with a table, of these channels and extents."""
        r = self.rng
        named = "named_" if tag else ""
        name = [tag] if tag else []
        if not self.has_tables or tag and r.random() < 0.5:
            return [[named + "input", *name, channels, *extents]]
        kind = [named + "integer_input", *name]
        if not extents:
            positions = r.choice((1, 1, 2, 3, 5))
            return [kind + [positions], self.table(max(1, channels // positions)), ["flatten"]]
        ones = [] if len(extents) == 1 and r.random() < 0.5 else [1]
        return [kind + ones + [*extents], self.table(channels)]

    def attention_options(self, mask, rotary, width):
        r = self.rng
        return {"causal": r.random() < 0.3, "mask": mask if mask and r.random() < 0.6 else None,
                "dropout": r.choice((None, None, None, 0.25)),
                "rotary": r.choice((0, 10, 10000)) if rotary and width % 2 == 0 else 0}

    def transformers(self):
        """Attentions, layers of Transformers and what stands beside them."""
        r = self.rng
        positions = r.choice((1, 2, 3, 5, 8, 17, 66))
        heads, width = r.choice((1, 2, 3)), r.choice((1, 2, 2, 4, 5))
        mask = self.new_tag() if r.random() < 0.4 else None
        parts, numbers = [], self.new_tag()
        if mask:
            parts.append(["named_integer_input", mask, positions])
        if mask and r.random() < 0.3:
            parts.append(["embedding", 2, heads * width])
        else:
            parts += self.begin(heads * width, [positions], numbers if mask else None)
        memory, saved_positions = self.new_tag(), positions
        parts.append(["save", memory])
        for _ in range(r.choice((1, 2, 3))):
            s = self.current(parts)
            o = self.attention_options(mask, True, width)
            layer = {"activation": r.choice(POINTWISE), "norm_first": r.random() < 0.5, "epsilon": r.choice((1e-5, 1e-3))}
            parts = self.extend(parts, [r.choice((
                ["attention", heads, None, {**o, "bias": r.random() < 0.7}],
                ["attention", heads, memory, {**o, "rotary": 0, "bias": r.random() < 0.7}],
                ["encoder", s[0], heads, r.choice((1, 3, 16)), {**o, **layer}],
                ["decoder", s[0], heads, r.choice((1, 3, 16)), memory, {**o, **layer}],
                ["positions", r.choice(("learned", "sinusoidal")), r.choice((10, 10000))],
                ["linear", s[0], r.random() < 0.7, True]))])
            if r.random() < 0.3:
                parts = self.extend(parts, [r.choice((self.pointwise(), self.norm(), ["linear", self.width(True), True, True],
                                                      ["output", self.new_tag()]))])
        if r.random() < 0.4:
            parts = self.extend(parts, [["linear", r.choice((1, 3)), True, True]])
        if any(p[0] == "output" for p in parts):
            parts = self.extend(parts, [["output", self.new_tag()]])
        return self.head(parts) if r.random() < 0.3 else parts

    def pointwise(self):
        return [self.rng.choice(POINTWISE + 4 * ("relu", "tanh", "gelu"))]

    def map(self, s):
        """Layers with operands of one value."""
        r = self.rng
        choices = [[["prelu", r.random() < 0.5, r.choice((0.25, 0.25, 0.125))]], [["layer_scale", r.choice((1e-5, 0.5))]],
                   [["scale_shift"]],
                   [[r.choice(("normalise", "denormalise")), r.random() < 0.3, r.random() < 0.3]]]
        if s[0] % 2 == 0:
            # Logarithms of variances that are not large.
            choices += [[["glu", r.choice(UNITS_OF_GLU)]], [["glu", r.choice(UNITS_OF_GLU)]], [["tanh"], ["reparameterise"]]]
        return r.choice(choices)

    def in_units(self, parts):
        """Data in physical units: normalised behind the input, the outputs brought back."""
        r = self.rng
        def layer(kind):
            return [kind, r.random() < 0.3, r.random() < 0.3]
        if parts[0][0] == "input":
            parts = parts[:1] + [layer("normalise")] + parts[1:]
        return parts + [layer("denormalise")] if parts[-1][0] != "output" and r.random() < 0.5 else parts

    def gate(self, s):
        """A value, times what is computed from it, and others of two values."""
        r, rank, tag = self.rng, len(s) - 1, self.new_tag()
        one = ["conv", rank, r.choice((1, s[0])), [1] * rank, [1] * rank, [0] * rank, True] if rank else \
            ["linear", s[0], True]
        path = r.choice(([], [one], [["global_pool"]] if rank else [], [["global_pool"], one] if rank else [one]))
        end = r.choice((["multiply_by", tag], ["multiply_by", tag], ["combine", "subtract", tag],
                        ["combine", "plus", tag], ["combine", "reparameterise_pair", tag]))
        back = r.choice(([], [["save", tag + "b"], ["from", tag]])) if path and end[-1] == tag else []
        end = end[:-1] + [tag + "b"] if back else end
        return [["tanh"], ["save", tag]] + path + [["sigmoid"]] * (r.random() < 0.6) + back + [end]

    def unpool(self, s):
        """A maximum, layers behind it, and its windows' values back at their places."""
        r, rank, tag = self.rng, len(s) - 1, self.new_tag()
        size = min(r.choice((1, 2, 2, 3)), *s[1:])
        stride = [size + r.choice((0, 0, 0, 1)) for _ in range(rank)]
        padding = [r.choice((0, 0, 0, size // 2)) for _ in range(rank)]
        ceil = r.random() < 0.3
        inner = r.choice(([], [self.pointwise()], [["scale_shift"]], [self.pointwise(), ["scale_shift"]]))
        return [["save", tag], ["pool", "max", rank, size, stride, padding] + ([{"ceil": True, "counts": True}] if ceil else []),
                *inner, ["unpool", rank, size, stride, padding, {"ceil": ceil}, tag]]

    def graph(self, s):
        """A product with a sparse matrix."""
        r, nodes = self.rng, product(s[1:])
        return ["graph_conv", self.width(len(s) > 1), r.random() < 0.75, nodes] if r.random() < 0.7 else ["sparse_product", nodes]

    def layer(self, s):
        """One layer that takes shape s."""
        r, image = self.rng, len(s) > 1
        if r.random() < 0.1:
            return self.graph(s)
        if r.random() < 0.1:
            return self.move(s)
        p = r.random()
        if p < 0.34:
            if image:
                if r.random() < 0.2:
                    return self.spectral_conv(s)
                return self.general_conv(s) if r.random() < 0.35 else self.conv(s)
            return ["linear", self.width(), r.random() < 0.75]
        if p < 0.60:
            return self.pointwise()
        if p < 0.72:
            if r.random() < 0.12:
                return ["local_response", r.choice((1, 2, 3, 5, 5, 70)), r.choice((1e-4, 0.5, 1.5)), r.choice((0.75, 0.75, 0.5, 1.0)), r.choice((1.0, 2.0))]
            return self.norm(s) if r.random() < 0.7 else self.batch_norm()
        if image and p < 0.84:
            return self.reduction(s) if r.random() < 0.35 else self.pool(s)
        if image and p < 0.88:
            return ["upsample", r.choice((1, 2, 2, 3))] if r.random() < 0.4 else self.resize(s)
        if p < 0.91:
            return self.softmax(s)
        if p < 0.95:
            return self.dropout()
        return ["flatten"] if image or r.random() < 0.5 else self.reduction(s)

    def block(self, s, depth):
        """A Residual, Branch or Repeat on a value of shape s."""
        r = self.rng
        kind = r.choice(("residual", "residual", "branch", "repeat"))
        same = [["linear", s[0], r.random() < 0.8]] if len(s) == 1 else [
            ["conv", len(s) - 1, s[0], [3] * (len(s) - 1), [1] * (len(s) - 1), [1] * (len(s) - 1), r.random() < 0.7]]
        if kind == "repeat":
            body = same + ([self.pointwise()] if r.random() < 0.8 else [])
            return ["repeat", r.choice((1, 2, 3)), body]
        if kind == "residual":
            style = r.random()
            if style < 0.35:
                main = same + r.choice(([], [self.norm()], [self.pointwise()]))
                return ["residual", main, None]
            if style < 0.45:
                return ["residual", [self.norm()], None]
            out = self.width(len(s) > 1)
            def path():
                if len(s) == 1:
                    steps = [["linear", out, True]]
                else:
                    k = r.choice((1, 3))
                    steps = [["conv", len(s) - 1, out, [k] * (len(s) - 1), [1] * (len(s) - 1), [k // 2] * (len(s) - 1), True]]
                return steps + r.choice(([], [self.norm()], [self.pointwise()]))
            return ["residual", path(), path()]
        paths = []
        for _ in range(r.choice((2, 2, 3, 4))):
            p = r.random()
            if p < 0.25:
                paths.append([])
            elif len(s) == 1:
                paths.append([["linear", self.width(), True]] + r.choice(([], [self.pointwise()])))
            else:
                k = r.choice((1, 3))
                paths.append([["conv", len(s) - 1, self.width(True), [k] * (len(s) - 1), [1] * (len(s) - 1),
                               [k // 2] * (len(s) - 1), True]] + r.choice(([], [self.pointwise()])))
        return ["branch", paths]

    def extend(self, parts, more):
        """parts + more, or parts where that is no valid network."""
        try:
            Graph(parts + more)
            return parts + more
        except Invalid:
            return parts

    def recomputed(self, parts):
        """Some of the parts in one Recompute, or each block in one of its own."""
        r = self.rng
        if r.random() < 0.3:
            return [["recompute", [p]] if p[0] in ("residual", "branch", "encoder", "decoder", "recurrent", "attention") else
                    p[:-1] + [[["recompute", p[-1]]]] if p[0] == "repeat" else p for p in parts]
        first = r.randrange(1, len(parts))
        last = r.randrange(first, len(parts))
        if last > first + 1 and r.random() < 0.3:  # one inside another
            inner = r.randrange(first, last)
            parts = parts[:inner] + [["recompute", [parts[inner]]]] + parts[inner + 1:]
        if any(p[0] in INPUTS for p in parts[first:last + 1]):
            raise Invalid("an input inside")
        return parts[:first] + [["recompute", parts[first:last + 1]]] + parts[last + 1:]

    def walk(self, parts, layers, graph_like):
        r = self.rng
        saved = []
        for _ in range(layers):
            g = Graph(parts)
            s = self.current(parts)
            p = r.random()
            if graph_like and p < 0.14:
                tag = self.new_tag()
                parts = self.extend(parts, [["save", tag]])
                saved.append((tag, s))
            elif graph_like and p < 0.34 and saved:
                tag, shape = r.choice(saved)
                kinds = ["from", "concat_from"] + (["add_from"] * 3 if shape == s else []) + \
                    (["multiply_by"] * 2 if can_broadcast(shape, s) else [])
                parts = self.extend(parts, [[r.choice(kinds), tag]])
            elif graph_like and p < 0.50:
                parts = self.extend(parts, [self.block(s, 0)])
            else:
                parts = self.extend(parts, self.map(s) if r.random() < 0.12 else
                                    self.unpool(s) if graph_like and len(s) > 1 and r.random() < 0.08 else [self.layer(s)])
            if graph_like and r.random() < 0.07 and len(g.nodes) > 1:
                parts = self.extend(parts, [["output", self.new_tag()]])
        return parts

    def current(self, parts):
        """Shape of the value behind the last part."""
        g = Graph.__new__(Graph)
        g.nodes, g.tags, g.outputs, g.inputs, g.work, g.parameters = [], {}, [], [], 0, 0
        return g.shape(g.sequence(parts, None, "", top=True))

    def head(self, parts):
        """Flatten and Linear layers, as most networks end."""
        r = self.rng
        if len(self.current(parts)) > 1:
            parts = self.extend(parts, [["flatten"]])
        for _ in range(r.choice((1, 1, 2, 2, 3))):
            parts = self.extend(parts, [["linear", self.width(), True]] + r.choice(([], [self.pointwise()])))
        return self.extend(parts, [["linear", r.choice((1, 2, 3, 10)), r.random() < 0.8]])

    # -- kinds of networks

    def perceptron(self):
        r = self.rng
        parts = self.begin(self.width(), [])
        for _ in range(r.choice((1, 2, 2, 3, 3, 4, 5))):
            parts = self.extend(parts, [["linear", self.width(), r.random() < 0.8]])
            if r.random() < 0.75:
                parts = self.extend(parts, [self.pointwise()])
            if r.random() < 0.3:
                s = self.current(parts)
                parts = self.extend(parts, [r.choice((self.norm(s), self.norm(s), ["dropout", 0.5], self.softmax(s), self.block(s, 0)))])
        return parts

    def flattened(self):
        r = self.rng
        rank = r.choice((1, 2, 2, 3))
        parts = self.begin(r.choice((1, 1, 2, 3, 4)), self.extents(rank))
        if r.random() < 0.3:
            parts.append(self.pointwise())
        return self.head(self.extend(parts, [["flatten"]]))

    def images(self):
        r = self.rng
        rank = r.choice((1, 2, 2, 2, 3))
        parts = self.begin(r.choice((1, 1, 2, 3, 6, 16)), self.extents(rank))
        for _ in range(r.choice((1, 1, 2, 2, 3))):
            parts = self.extend(parts, [self.conv(self.current(parts))])
            if r.random() < 0.3:
                parts = self.extend(parts, [self.norm(self.current(parts))])
            if r.random() < 0.75:
                parts = self.extend(parts, [self.pointwise()])
            if r.random() < 0.45:
                s = self.current(parts)
                parts = self.extend(parts, [self.reduction(s) if r.random() < 0.2 else self.pool(s)])
            if r.random() < 0.12:
                parts = self.extend(parts, [["upsample", 2] if r.random() < 0.5 else self.resize(self.current(parts))])
        return self.head(parts) if r.random() < 0.85 else parts

    def statistics(self):
        """Normalisations of groups, softmaxes over axes, reductions and adaptive poolings."""
        r = self.rng
        rank = r.choice((0, 1, 2, 2, 2, 3))
        parts = self.begin(r.choice((1, 2, 3, 4, 6, 12, 17, 20, 66)), self.extents(rank) if rank else [])
        for _ in range(r.choice((2, 3, 4))):
            s = self.current(parts)
            p = r.random()
            if p < 0.35:
                parts = self.extend(parts, [self.group_norm(s)] + r.choice(([], [self.pointwise()], [["dropout", 0.5]])))
            elif p < 0.5:
                parts = self.extend(parts, [self.softmax(s)])
            elif p < 0.8:
                parts = self.extend(parts, [self.reduction(s)])
            else:
                parts = self.extend(parts, [self.conv(s) if len(s) > 1 else ["linear", self.width(), True], self.pointwise()])
        return self.head(parts) if r.random() < 0.6 else parts

    def convolutions(self):
        """Dilated, grouped and transposed ones, and those with other borders."""
        r = self.rng
        rank = r.choice((1, 2, 2, 2, 3))
        parts = self.begin(r.choice((1, 2, 3, 4, 6, 16)), [max(e, r.choice((1, 2, 3))) for e in self.extents(rank)])
        for _ in range(r.choice((1, 2, 2, 3))):
            s = self.current(parts)
            p = r.random()
            parts = self.extend(parts, [self.general_conv(s) if p < 0.5 else self.spectral_conv(s) if p < 0.85 else self.graph(s)])
            if r.random() < 0.3:
                parts = self.extend(parts, [self.norm()])
            if r.random() < 0.7:
                parts = self.extend(parts, [self.pointwise()])
            if r.random() < 0.2:
                parts = self.extend(parts, [r.choice((self.pool(self.current(parts)), self.conv(self.current(parts))))])
        return self.head(parts) if r.random() < 0.7 else parts

    def moves(self):
        """Layers that move numbers, between others."""
        r = self.rng
        rank = r.choice((0, 1, 1, 2, 2, 3))
        parts = self.begin(r.choice((1, 1, 2, 3, 4, 8, 16)), self.extents(rank) if rank else [])
        for _ in range(r.choice((2, 3, 3, 4, 5))):
            parts = self.extend(parts, [self.move(self.current(parts))])
            if r.random() < 0.5:
                parts = self.extend(parts, [self.layer(self.current(parts))])
            if r.random() < 0.15:
                parts = self.extend(parts, [self.block(self.current(parts), 0)])
        return self.head(parts) if r.random() < 0.3 else parts

    def recurrent(self, **options):
        r = self.rng
        cell = r.choice(("rnn", "rnn_relu", "lstm", "lstm", "gru", "gru"))
        o = {"layers": r.choice((1, 1, 1, 2, 3)), "bidirectional": r.random() < 0.4, "bias": r.random() < 0.8,
             "initial": [], "final": [], "lengths": None, **options}
        return ["recurrent", cell, r.choice((1, 2, 3, 5, 8, 16, 17, 33)), o]

    def sequences(self):
        """Recurrent layers with their states."""
        r = self.rng
        extents = self.extents(1) if r.random() < 0.85 else []
        layer = self.recurrent()
        o = layer[3]
        places = o["layers"] * (1 + o["bidirectional"])
        parts = []
        if r.random() < 0.4:
            o["initial"] = [self.new_tag() for _ in range(states_of(layer[1]))]
            parts += [["named_input", tag, places * layer[2]] for tag in o["initial"]]
        if extents and r.random() < 0.4:
            o["lengths"] = self.new_tag()
            parts.append(["named_integer_input", o["lengths"], 1])
        if r.random() < 0.4:
            o["final"] = [self.new_tag() for _ in range(states_of(layer[1]))]
        tag = self.new_tag() if parts else None
        parts += self.begin(self.width(bool(extents)), extents, tag)
        if r.random() < 0.3:
            parts = self.extend(parts, [self.pointwise()])
        parts = self.extend(parts, [layer])
        if r.random() < 0.4:
            parts = self.extend(parts, [r.choice((self.pointwise(), self.norm(), ["dropout", 0.5]))])
        if r.random() < 0.4:
            parts = self.extend(parts, [self.recurrent()])
        if r.random() < 0.6:
            parts = self.head(parts)
        if o["final"]:
            parts = self.extend(parts, [["output", self.new_tag()]])
            for last in o["final"]:
                parts = self.extend(parts, [["from", last]] + r.choice(([], [["linear", 3, True]])) +
                                    [["output", self.new_tag()]])
        return parts

    def maps(self):
        """Gates, halves of channels, parameters for each channel, noise."""
        r = self.rng
        rank = r.choice((0, 0, 1, 2, 2, 3))
        parts = self.begin(self.width(rank > 0), self.extents(rank) if rank else [])
        for _ in range(r.choice((1, 2, 3))):
            s = self.current(parts)
            if r.random() < 0.6:
                parts = self.extend(parts, [["linear", 2 * r.choice((1, 4, 16, 17, 65)), True] if len(s) == 1 else
                                            self.conv(s)])
            s = self.current(parts)
            parts = self.extend(parts, self.gate(s) if r.random() < 0.5 else
                                self.unpool(s) if len(s) > 1 and r.random() < 0.4 else self.map(s))
            for _ in range(r.choice((0, 0, 1, 2))):
                parts = self.extend(parts, [self.pointwise() if r.random() < 0.7 else ["dropout", 0.25]])
        return self.head(parts) if r.random() < 0.6 else parts

    def anything(self):
        r = self.rng
        rank = r.choice((0, 0, 1, 2, 2, 3))
        parts = self.begin(self.width(rank > 0), self.extents(rank) if rank else [])
        parts = self.walk(parts, r.randint(2, 9), r.random() < 0.75)
        return self.head(parts) if r.random() < 0.4 else parts

    def several(self):
        """Several inputs and outputs, dead values among them."""
        r = self.rng
        parts, names = [], []
        for _ in range(r.choice((1, 2, 2, 3))):
            tag = self.new_tag()
            rank = r.choice((0, 0, 0, 1, 2))
            begun = self.begin(self.width(rank > 0), self.extents(rank) if rank else [], tag)
            parts = parts + begun
            parts = self.walk(parts, r.randint(1, 3), False)
            if begun[0][0] in INTEGER_INPUTS and r.random() < 0.4:
                parts = self.extend(parts, [["from", tag], self.table(self.width(True)), self.norm()])
            if r.random() < 0.5:
                parts = self.extend(parts, [["output", self.new_tag()]])
                if r.random() < 0.2:
                    parts = self.extend(parts, [["output", self.new_tag()]])
            if names and r.random() < 0.8:
                parts = self.extend(parts, [[r.choice(("concat_from", "from", "add_from")), r.choice(names)]])
            names.append(tag)
        parts = self.walk(parts, r.randint(1, 4), True)
        if not any(p[0] == "output" for p in parts) or r.random() < 0.6:
            parts = self.extend(parts, [["output", self.new_tag()]])
        if r.random() < 0.3:
            parts = self.extend(parts, [["linear", 3, True]])
        return parts

    def fused(self):
        """Sums, normalisations and pointwise layers in the orders that rules fuse."""
        r = self.rng
        rank = r.choice((0, 0, 1, 2))
        parts = self.begin(self.width(rank > 0), self.extents(rank) if rank else [])
        for _ in range(r.choice((1, 2, 3))):
            s = self.current(parts)
            same = ["linear", s[0], True] if len(s) == 1 else \
                ["conv", len(s) - 1, s[0], [1] * (len(s) - 1), [1] * (len(s) - 1), [0] * (len(s) - 1), True]
            more = r.choice((
                [["residual", [same, ["batch_norm", None]], None]], [["residual", [same, self.pointwise()], None]],
                [["residual", [["batch_norm", None]], [same, ["batch_norm", None]]]], [["batch_norm", None]],
                [["residual", [self.norm()], [same, self.norm()]]], [self.norm()],
                [["softmax"]], [self.pool(s) if len(s) > 1 else same], [same]))
            parts = self.extend(parts, more + [self.pointwise() for _ in range(r.choice((0, 1, 1, 2, 3)))])
        return parts

    def steps(self):
        """What rules fuse that chance hardly brings: sums, normalisations and chains that no contraction begins."""
        r = self.rng
        rank = r.choice((0, 1, 2))
        parts = [["input", self.width(rank > 0), *(self.extents(rank) if rank else [])]]
        for which in r.sample(range(6), 3):
            s = self.current(parts)
            same = ["linear", s[0], True] if len(s) == 1 else \
                ["conv", len(s) - 1, s[0], [1] * (len(s) - 1), [1] * (len(s) - 1), [0] * (len(s) - 1), True]
            apart = ["upsample", 2] if len(s) > 1 else ["softmax"]
            parts = self.extend(parts, (
                [apart, self.pointwise(), self.pointwise()],
                [["residual", [same, self.pointwise()], None], self.pointwise()],
                [["residual", [same, ["batch_norm", None]], None], self.pointwise()],
                [apart, self.norm(), self.pointwise()],
                [["branch", [[same], [], [same, self.pointwise()]]]],
                [["save", f"s{which}"], same, ["add_from", f"s{which}"], self.pointwise()])[which])
        return self.head(parts) if r.random() < 0.4 else parts

    def deep(self):
        """Depth around the most layers of a segment."""
        r = self.rng
        width = r.choice((1, 2, 3, 16, 17, 33))
        before, after = r.choice((0, 0, 1, 2)), r.choice((0, 0, 1, 2))
        count = r.choice((15, 16, 17)) - before - after
        body = [["linear", width, r.random() < 0.8]] + r.choice(([], [self.pointwise()], [["tanh"]]))
        parts = [["input", width]]
        def other():
            return r.choice((["linear", self.width(), True], self.norm(), ["softmax"]))
        for _ in range(before):
            parts = self.extend(parts, [other()])
        parts = self.extend(parts, [["repeat", count, body]])
        for _ in range(after):
            parts = self.extend(parts, [other()])
        return self.extend(parts, [self.pointwise()]) if r.random() < 0.5 else parts

    def wide(self):
        """Parameters around the most of a segment."""
        r = self.rng
        width, layers, bias = r.choice(((128, 9, True), (128, 9, False), (127, 10, True)))
        body = [["linear", width, bias]] + r.choice(([["tanh"]], [["relu"]], []))
        parts = [["input", width], ["repeat", layers, body]]
        left = SEGMENT_PARAMETERS - Graph(parts).parameters
        bias = r.random() < 0.7
        last = left // (width + bias) + r.choice((0, 0, 1, 2))
        return self.extend(parts, [["linear", max(1, min(WIDEST, last)), bias]])

    def wide_image(self):
        """Inputs of the first Linear layer, values and parameters around the most of an image segment."""
        r = self.rng
        style = r.random()
        if style < 0.4:  # widest
            c, e = r.choice(((16, [64]), (16, [8, 8]), (4, [16, 16]), (17, [60]), (41, [5, 5]), (114, [3, 3]), (15, [68]), (1, [32, 32])))
            parts = [["input", r.choice((1, 2)), *e], ["conv", len(e), c, [1] * len(e), [1] * len(e), [0] * len(e), True]]
            parts = parts + r.choice(([], [["relu"]])) + [["flatten"], ["linear", r.choice((2, 17)), True]]
        elif style < 0.7:  # values
            e = r.choice(([16, 16], [250], [256], [6, 6, 7]))
            rank = len(e)
            c = max(1, (IMAGE_VALUES // product(e)) // 2 - r.choice((0, 0, 1)))
            parts = [["input", 1, *e], ["conv", rank, c, [1] * rank, [1] * rank, [0] * rank, True],
                     ["conv", rank, c - r.choice((0, 1, 2)), [1] * rank, [1] * rank, [0] * rank, True], ["tanh"],
                     ["pool", "average", rank, 6, [6] * rank, [0] * rank], ["flatten"], ["linear", 3, True]]
        else:  # parameters
            parts = [["input", 2, 4, 4], ["conv", 2, 64, [1, 1], [1, 1], [0, 0], True],
                     ["pool", "max", 2, 1, [1, 1], [0, 0]] if r.random() < 0.3 else ["gelu"],
                     ["flatten"], ["linear", r.choice((126, 127, 128)), r.random() < 0.5], ["relu"],
                     ["linear", r.choice((1, 2, 3)), True]]
        Graph(parts)
        return parts

    def rare(self):
        """Boundaries that hardly any network meets by chance, with the kind that does."""
        return [(self.deep, f"depth {n}") for n in (15, 16, 17)] + \
            [(self.wide, f"segment, parameters {side}") for side in ("kept", "passed")] + \
            [(self.wide_image, f"image segment, {what} {side}") for what in ("parameters", "values", "widest")
             for side in ("kept", "passed")] + [(self.several, "one value, two outputs")]

    def description(self, number):
        """Of six networks three meet a rare boundary, each in turn, and one is made of rare steps."""
        r = self.rng
        kinds = ((self.perceptron, 15), (self.flattened, 11), (self.images, 24), (self.anything, 22), (self.several, 14),
                 (self.fused, 14), (self.convolutions, 20), (self.moves, 20), (self.statistics, 20),
                 (self.transformers, 20), (self.sequences, 24), (self.maps, 20))
        kind, wanted = r.choices([k for k, _ in kinds], [w for _, w in kinds])[0], None
        of_steps = number % 6 == 5
        if of_steps:
            kind = self.steps
        elif number % 2 == 0:
            rare = self.rare()
            kind, wanted = rare[number // 2 % len(rare)]
        while True:
            self.has_tables = r.random() < (0.5 if kind == self.several else 0.25 if wanted is None else 0)
            try:
                parts = kind()
                if wanted is None and r.random() < 0.12:
                    parts = self.in_units(parts)
                g = Graph(parts)
                if r.random() < 0.2:
                    parts = self.recomputed(parts)
                    g = Graph(parts)
            except Invalid:
                continue
            if len(g.nodes) > 1 and (wanted is None or wanted in g.boundaries({"capacity": 49})):
                break
        d = {"parts": parts, "kind": kind.__name__}
        d["precision"] = r.choices(("float", "double", "bf16", "fp16"), (40, 34, 16, 10))[0]
        # A rounding of the image moves a value of any size to another place.
        if any(n["kind"] == "unpool" for n in g.nodes) and d["precision"] in ("bf16", "fp16"):
            d["precision"] = "float"
        d["fusion"] = r.choices(("tile", "segment", "epilogue", "none"), (64, 16, 13, 7))[0]
        if of_steps and d["fusion"] == "none":
            d["fusion"] = "tile"
        d["backends"] = r.choices(("default", "portable", "reference"), (74, 20, 6))[0]
        d["element"] = r.choice(("float", "double"))
        d["flat"] = r.random() < 0.4
        d["layout"] = r.choice(("right", "left", "strided"))
        ports = [g.shape(v) for _, v in g.inputs + g.outputs]
        if all(len(shape) == 1 and shape[0] <= 16 for shape in ports) and r.random() < 0.4:
            d["layout"] = "gathered"
        d["call"] = r.random() < 0.5
        d["capacity"] = r.choice((49, 49, 49, 20))
        d["seed"] = r.randrange(1, 10**6)
        d["trained"] = r.random() < 0.85
        d["loss"] = [[r.choice(("cross_entropy", "mean_squared_error")), r.choice((1, 1, 0.5))] for _ in range(8)]
        d["rule"] = r.choice((
            {"name": "sgd", "rate": 0.0078125}, {"name": "sgd", "rate": 0.0078125, "momentum": 0.5},
            {"name": "sgd", "rate": 0.0078125, "momentum": 0.5, "nesterov": True, "weight_decay": 0.125},
            {"name": "adam", "rate": 0.0078125, "beta1": 0.75, "beta2": 0.9375, "epsilon": 0.03125},
            {"name": "adam", "rate": 0.0078125, "beta1": 0.75, "beta2": 0.9375, "epsilon": 0.03125, "weight_decay": 0.125}))
        normalized = any(n["kind"] == "batch_norm" for n in g.nodes)
        # Under Reproducible, statistics are those of a shard.
        d["bits"] = "reproducible" if r.random() < 0.2 and not normalized else "fastest"
        d["labels"] = r.choice(("int", "std::int64_t", "unsigned char"))
        d["again"] = "cheap" if r.random() < 0.4 else "marked"
        return complete(d)


# What a description in a file leaves out.
USUAL = {"precision": "float", "fusion": "tile", "backends": "default", "element": "float", "flat": False,
         "layout": "right", "call": True, "capacity": 49, "seed": 1, "trained": True, "loss": [["cross_entropy", 1]],
         "rule": {"name": "sgd", "rate": 0.0078125}, "bits": "fastest", "labels": "int", "again": "marked"}


def complete(d):
    """A description with what it left out and what follows from its parts."""
    d = {**USUAL, **d}
    g = Graph(d["parts"])
    d["trained"] = d["trained"] and g.is_trainable()
    # What those calls refuse.
    d["call"] = d["call"] and not any(g.is_integer(v) for _, v in g.inputs) and not any(n["kind"] == "sparse_product" for n in g.nodes)
    d["loss"] = (d["loss"] * 8)[:len(g.outputs)]
    # A class is a label, so that labels hold every class.
    if d["labels"] == "unsigned char" and any(g.shape(v)[0] > 256 for _, v in g.outputs):
        d["labels"] = "int"
    d["boundaries"] = g.boundaries(d)
    return d


def brief(d):
    """A description as files have it."""
    return {k: v for k, v in d.items() if k not in ("boundaries", "kind") and v != USUAL.get(k)}


def read_descriptions(path):
    return [complete(d) for d in json.loads(pathlib.Path(path).read_text())]


def draw(seed, number):
    d = Draw(random.Random(f"{seed}/{number}")).description(number)
    d["name"] = f"n{seed}_{number}"
    return d


# ---- C++ -----------------------------------------------------------------------------------------------------


def option(name, values):
    values = list(values)
    if all(v == values[0] for v in values):
        values = values[:1]
    return f"phyllo::{name}<{', '.join(map(str, values))}>"


def spell(part):
    kind = part[0]
    def named(name, *arguments):
        return f"phyllo::{name}<{', '.join(map(str, arguments))}>"
    def all_of(parts):
        return [spell(p) for p in parts]
    inputs = {"input": "Input", "named_input": "NamedInput", "integer_input": "IntegerInput",
              "named_integer_input": "NamedIntegerInput"}
    if kind in inputs:
        return named(inputs[kind], *part[1:])
    if kind == "embedding":
        return named("Embedding", *part[1:])
    if kind in ("layer_norm", "rms_norm"):
        options = ([] if part[1] else ["phyllo::Affine<false>"]) + (["phyllo::Bias<false>"] if part[1] == "weight" else []) + \
                  ([] if part[2] == 1e-5 else [f"phyllo::Epsilon<{part[2]}>"])
        return named("LayerNorm" if kind == "layer_norm" else "RMSNorm", *options)
    if kind in ("group_norm", "instance_norm"):
        *groups, affine, epsilon = part[1:]
        options = ([] if affine == (kind == "group_norm") else [f"phyllo::Affine<{str(affine).lower()}>"]) + \
                  ([] if epsilon == 1e-5 else [f"phyllo::Epsilon<{epsilon}>"])
        return named("GroupNorm" if groups else "InstanceNorm", *groups, *options)
    if kind == "softmax_over":
        return named("LogSoftmaxOver" if part[2] else "SoftmaxOver", "phyllo::Axis::" + part[1]) if part[1] else \
            "phyllo::LogSoftmax"
    if kind == "reduce":
        return named(part[1].title(), *("phyllo::Axis::" + a for a in part[2]))
    if kind == "adaptive_pool":
        return f"phyllo::Adaptive{'Max' if part[1] == 'max' else 'Average'}Pool{part[2]}d<{', '.join(map(str, part[3]))}>"
    if kind == "linear":
        return named("Linear", part[1], *([] if part[2] else ["phyllo::Bias<false>"]),
                     *(["phyllo::PerPosition"] if len(part) > 3 else []))
    if kind == "positions":
        return "phyllo::LearnedPositions" if part[1] == "learned" else named("SinusoidalPositions", part[2])
    if kind in ("attention", "encoder", "decoder"):
        o = part[-1]
        options = (["phyllo::Causal"] if o["causal"] else []) + \
                  ([named("KeyPadding", o["mask"])] if o["mask"] else []) + \
                  ([named("Dropout", o["dropout"])] if o["dropout"] is not None else []) + \
                  ([named("Rotary", o["rotary"])] if o["rotary"] else [])
        if kind == "attention":
            options += [] if o["bias"] else ["phyllo::Bias<false>"]
            return named("MultiheadAttention" if part[2] is None else "CrossAttention", part[1],
                         *([] if part[2] is None else [part[2]]), *options)
        options += [spell([o["activation"]])] + (["phyllo::NormFirst"] if o["norm_first"] else []) + \
                   ([] if o["epsilon"] == 1e-5 else [f"phyllo::Epsilon<{o['epsilon']}>"])
        return named("TransformerEncoderLayer" if kind == "encoder" else "TransformerDecoderLayer", *part[1:-1], *options)
    if kind == "conv":
        _, rank, out, kernel, stride, padding, bias = part
        options = ([option("KernelSize", kernel)] if any(k != 3 for k in kernel) else []) + \
                  ([option("Stride", stride)] if any(s != 1 for s in stride) else []) + \
                  ([option("Padding", padding)] if any(padding) else []) + \
                  ([] if bias else ["phyllo::Bias<false>"])
        return named(f"Conv{rank}d", out, *options)
    if kind == "general_conv":
        _, rank, out, kernel, stride, padding, bias, o = part
        mode = {"zeros": "Padding", "reflect": "ReflectPadding", "replicate": "ReplicatePadding",
                "circular": "CircularPadding"}[o["mode"]]
        options = [option("KernelSize", kernel)] + \
                  ([option("Stride", stride)] if any(s != 1 for s in stride) else []) + \
                  ([option(mode, padding)] if any(padding) or o["mode"] != "zeros" else []) + \
                  ([option("PaddingAfter", o["after"])] if list(o["after"]) != list(padding) else []) + \
                  ([option("OutputPadding", o["output_padding"])] if any(o["output_padding"]) else []) + \
                  ([option("Dilation", o["dilation"])] if any(d != 1 for d in o["dilation"]) else []) + \
                  ([named("ChannelGroups", o["groups"])] if o["groups"] != 1 else []) + \
                  ([] if bias else ["phyllo::Bias<false>"])
        return named(f"Conv{'Transpose' if o['transposed'] else ''}{rank}d", out, *options)
    if kind == "recurrent":
        _, cell, hidden, o = part
        options = ([named("Layers", o["layers"])] if o["layers"] != 1 else []) + \
                  (["phyllo::Bidirectional"] if o["bidirectional"] else []) + \
                  ([] if o["bias"] else ["phyllo::Bias<false>"]) + \
                  ([named("InitialState", *o["initial"])] if o["initial"] else []) + \
                  ([named("FinalState", *o["final"])] if o["final"] else []) + \
                  ([named("SequenceLengths", o["lengths"])] if o["lengths"] else []) + \
                  (["phyllo::Nonlinearity<phyllo::ReLU>"] if cell == "rnn_relu" else [])
        return named(cell.split("_")[0].upper(), hidden, *options)
    if kind == "pool":
        _, which, rank, size, stride, padding = part[:6]
        options = ([option("Stride", stride)] if any(s != size for s in stride) else []) + \
                  ([option("Padding", padding)] if any(padding) else []) + \
                  (["phyllo::CeilMode"] if pool_options(part)["ceil"] else []) + \
                  ([] if pool_options(part)["counts"] else ["phyllo::CountPadding<false>"])
        return named(f"{'Max' if which == 'max' else 'Average'}Pool{rank}d", size, *options)
    if kind == "unpool":
        _, rank, size, stride, padding, o, tag = part
        options = ([option("Stride", stride)] if any(s != size for s in stride) else []) + \
                  ([option("Padding", padding)] if any(padding) else []) + (["phyllo::CeilMode"] if o["ceil"] else [])
        return named("Combine", named(f"MaxUnpool{rank}d", size, *options), tag)
    if kind == "spectral_conv":
        return named(f"SpectralConv{len(part[2])}d", part[1], f"phyllo::Modes<{', '.join(map(str, part[2]))}>")
    if kind in ("sparse_product", "graph_conv"):
        tag = f"networks::graph<{part[-1]}>"
        return named("SparseProduct", tag) if kind == "sparse_product" else \
            named("GraphConvolution", part[1], tag, *([] if part[2] else ["phyllo::Bias<false>"]))
    if kind == "local_response":
        return named("LocalResponseNorm", *part[1:])
    if kind == "lp_pool":
        _, power, rank, size, stride = part
        return named(f"LpPool{rank}d", power, size, *([option("Stride", stride)] if any(s != size for s in stride) else []))
    if kind == "batch_norm":
        numbers = [f"phyllo::Epsilon<{part[2]}>", f"phyllo::Momentum<{part[3]}>"] if len(part) > 2 else []
        numbers += [] if is_affine(part) else ["phyllo::Affine<false>"]
        return named("BatchNorm", *([f"phyllo::Statistics::{part[1]}"] if part[1] else []), *numbers)
    if kind == "bump":
        return "networks::Bump"
    if kind == "slice":
        _, dim, begin, end, step = part
        return named("Slice", dim, begin, *([] if end is None and step == 1 else ["INT_MAX" if end is None else end]),
                     *([] if step == 1 else [step]))
    if kind == "pad":
        _, mode, before, after, fill = part
        name = {"zeros": "Padding", "reflect": "ReflectPadding", "replicate": "ReplicatePadding",
                "circular": "CircularPadding"}[mode]
        return named("Pad", option(name, before), *([option("PaddingAfter", after)] if list(after) != list(before) else []),
                     *([f"phyllo::Fill<{fill}>"] if fill else []))
    if kind in ("crop", "flip", "permute", "reshape"):
        return named(kind.capitalize(), *part[1])
    if kind in MOVES:
        return named("".join(word.capitalize() for word in kind.split("_")), part[1])
    if kind == "prelu":
        return named("PReLU", *(["phyllo::PerChannel<true>"] if part[1] else []),
                     *([] if part[2] == 0.25 else [f"phyllo::InitialValue<{part[2]}>"]))
    if kind in ("normalise", "denormalise"):
        return named(kind.capitalize(), *(["phyllo::MinMax"] if part[1] else []), *(["phyllo::PerElement"] if part[2] else []))
    if kind == "layer_scale":
        return named("LayerScale", *([] if part[1] == 1e-5 else [f"phyllo::InitialValue<{part[1]}>"]))
    if kind == "glu":
        return "phyllo::" + {"sigmoid": "GLU", "silu": "SwiGLU", "gelu": "GEGLU", "relu": "ReGLU"}[part[1]]
    if kind == "combine":
        layer = {"subtract": "Subtract", "plus": "Plus", "reparameterise_pair": "ReparameterisePair"}[part[1]]
        return named("Combine", "phyllo::" + layer, part[2])
    simple = {"relu": "ReLU", "tanh": "Tanh", "sigmoid": "Sigmoid", "gelu": "GELU", "softmax": "Softmax",
              "scale_shift": "ScaleShift", "reparameterise": "Reparameterise",
              "flatten": "Flatten", "global_pool": "GlobalAveragePool"}
    if kind in simple or kind in UNITS:
        return "phyllo::" + (simple.get(kind) or UNITS[kind])
    if kind == "dropout" or kind in DROPOUTS:
        return named(DROPOUTS.get(kind, "Dropout"), part[1])
    if kind == "upsample":
        return named("Upsample", part[1])
    if kind == "resize":
        options = ["phyllo::LinearInterpolation" if part[2] == "linear" else "phyllo::CubicInterpolation"] + \
                  (["phyllo::AlignCorners"] if part[3] else [])
        if isinstance(part[1], list):
            return named("Resize", named("OutputSize", *part[1]), *options)
        return named("Upsample", part[1], *options)
    if kind in ("save", "from", "add_from", "concat_from", "multiply_by", "output"):
        name = {"save": "Save", "from": "From", "add_from": "AddFrom", "concat_from": "ConcatFrom",
                "multiply_by": "MultiplyBy", "output": "Output"}
        return named(name[kind], part[1])
    if kind == "repeat":
        return named("Repeat", part[1], *all_of(part[2]))
    if kind == "recompute":
        return named("Recompute", *all_of(part[1]))
    if kind == "branch":
        return named("Branch", *(named("Path", *all_of(p)) for p in part[1]))
    if part[2] is None:
        return named("Residual", *all_of(part[1]))
    return named("Residual", named("Main", *all_of(part[1])), named("Shortcut", *all_of(part[2])))


def type_of(d):
    return f"phyllo::Network<{', '.join(spell(p) for p in d['parts'])}>"


PRECISION = {"float": ("phyllo::Full<float>", "0x1p-24"), "double": ("phyllo::Full<double>", "0x1p-53"),
             "bf16": ("phyllo::Mixed<phyllo::bf16, float>", "0x1p-8"),
             "fp16": ("phyllo::Mixed<phyllo::fp16, float>", "0x1p-11")}
BACKENDS = {"default": "phyllo::DefaultBackends<networks::Space>::type",
            "portable": "phyllo::Backends<phyllo::PortableBackend>",
            "reference": "phyllo::Backends<phyllo::ReferenceBackend>"}


def test_case(d):
    g = Graph(d["parts"])
    name = d["name"]
    precision, roundoff = PRECISION[d["precision"]]
    inputs = [tag for tag, _ in g.inputs if tag]
    outputs = [tag for tag, _ in g.outputs if tag]
    call = "networks::no_call" if not d["call"] else \
        "networks::call_by_thread" if g.widest() <= WIDEST else "networks::call_by_team"
    kinks = any(n["kind"] in KINKED or n["kind"] == "recurrent" and n["part"][1] == "rnn_relu" or n["part"] == ["glu", "relu"] or
                n["kind"] == "root_of_sum" or
                n["kind"] == "unpool" or n["kind"] in ("pool", "adaptive_pool", "reduce") and n["part"][1] == "max" for n in g.nodes)
    terms, losses, rule, make_rule = "", "void", "void", ""
    if d["trained"]:
        cpp = {"cross_entropy": "phyllo::CrossEntropy", "mean_squared_error": "phyllo::MeanSquaredError"}
        if outputs:
            losses = "phyllo::Losses<" + ", ".join(
                f"phyllo::On<{tag}, {cpp[kind]}, {float(weight)}>" for tag, (kind, weight) in zip(outputs, d["loss"])) + ">"
            terms = ", ".join(f"{{{str(kind == 'cross_entropy').lower()}, {weight}}}" for kind, weight in d["loss"])
        else:
            losses = cpp[d["loss"][0][0]]
            terms = f"{{{str(d['loss'][0][0] == 'cross_entropy').lower()}, 1}}"
        r = d["rule"]
        rule = "phyllo::Adam" if r["name"] == "adam" else "phyllo::Sgd"
        fields = [f for f in ("rate", "momentum", "beta1", "beta2", "epsilon", "nesterov", "weight_decay") if f in r]
        def value(f):
            return str(r[f]).lower() if f == "nesterov" else f"{r[f]}"
        make_rule = f", {rule}{{" + ", ".join(f".{f} = {value(f)}{'' if f == 'nesterov' else 'f'}" for f in fields) + "}"
    lines = [f"struct {tag};" for tag in sorted(collect_tags(d["parts"]))]
    text = "namespace " + name + " {\n" + "\n".join(lines) + ("\n" if lines else "")
    text += f"struct Net : {type_of(d)} {{}};\n"
    text += f"using In = phyllo::TypeList<{', '.join(inputs)}>;\nusing Out = phyllo::TypeList<{', '.join(outputs)}>;\n"
    bits = "phyllo::Reproducible<>" if d["bits"] == "reproducible" else "phyllo::Fastest"
    text += (f"using Setting =\n    networks::Setting<{precision},\n                      phyllo::Execution<networks::Space, "
             f"{BACKENDS[d['backends']]},\n                                        phyllo::FusionLevel::{d['fusion']}, {bits},\n"
             f"                                        phyllo::Recomputation::{d['again']}>,\n"
             f"                      {d['element']}, {d['labels']}, {str(d['flat']).lower()}, networks::Layout::{d['layout']}, "
             f"{call},\n                      {losses}, {rule}>;\n")
    text += (f"std::unique_ptr<networks::Machine> make(int capacity, unsigned seed) {{\n"
             f"  return std::make_unique<networks::Subject<Net, In, Out, Setting>>(capacity, seed{make_rule});\n}}\n"
             f"}}  // namespace {name}\n")
    text += f"TEST_CASE(\"{name}\") {{\n  networks::Entry e;\n  e.name = \"{name}\";\n  e.type = \"{type_of(d)}\";\n"
    text += f"  e.description = R\"json({json.dumps(d)})json\";\n"
    text += f"  e.plan = networks::plan_of<{name}::Net, {name}::Setting>();\n"
    text += f"  e.parameters = networks::stored_tensors<{name}::Net>();\n"
    text += f"  e.storage = {roundoff};\n  e.element = {'0x1p-24' if d['element'] == 'float' else '0x1p-53'};\n"
    if any(n["kind"] == "unpool" for n in g.nodes):
        text += "  e.discontinuous = true;\n"
    text += f"  e.kinked = {str(kinks).lower()};\n  e.capacity = {d['capacity']};\n  e.seed = {d['seed']};\n"
    text += f"  e.longest_sum = {g.longest_sum()};\n  e.loss = {{{terms}}};\n"
    if d["trained"]:
        r = d["rule"]
        text += f"  e.rule.adam = {str(r['name'] == 'adam').lower()};\n"
        text += "".join(f"  e.rule.{f} = {value(f)};\n" for f in fields)
    types = f"{name}::Net, {name}::In, {name}::Out"
    text += f"  e.reference = networks::make_reference<phyllo::Full<double>, {types}>;\n"
    if g.rounds_coarsely():
        text += f"  e.in_float = networks::make_in_float<{types}>;\n"
    if d["precision"] == "fp16":
        text += f"  e.in_storage = networks::make_reference<{precision}, {types}>;\n"
    text += f"  e.subject = {name}::make;\n  networks::run(e);\n}}\n"
    return text


def collect_tags(parts):
    tags = set()
    for p in parts:
        if p[0] in NAMED_INPUTS + ("save", "output", "from", "add_from", "concat_from"):
            tags.add(p[1])
        elif p[0] == "recurrent":
            tags |= set(p[3]["initial"] + p[3]["final"] + ([p[3]["lengths"]] if p[3]["lengths"] else []))
        elif p[0] == "residual":
            tags |= collect_tags(p[1]) | collect_tags(p[2] or [])
        elif p[0] == "branch":
            for path in p[1]:
                tags |= collect_tags(path)
        elif p[0] == "repeat":
            tags |= collect_tags(p[2])
        elif p[0] == "recompute":
            tags |= collect_tags(p[1])
    return tags


def program(descriptions):
    return ("// Made by tests/fuzz/networks/generate.py.\n#include <doctest/doctest.h>\n\n#include \"subject.hpp\"\n\n" +
            "\n".join(test_case(d) for d in descriptions))


def write_if_changed(path, text):
    path = pathlib.Path(path)
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].replace("usage: ", ""))
    parser.add_argument("--seed")
    parser.add_argument("--count", type=int, help="6, or all that are left of FILE.json")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--descriptions")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    first = arguments.first
    if arguments.descriptions:
        descriptions = read_descriptions(arguments.descriptions)[first:][:arguments.count]
    else:
        descriptions = [draw(arguments.seed, k) for k in range(first, first + (arguments.count or 6))]
    if arguments.output:
        write_if_changed(arguments.output, program(descriptions))
    else:
        for d in descriptions:
            print(json.dumps(d))


if __name__ == "__main__":
    sys.exit(main())
