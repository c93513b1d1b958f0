#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints PyTorch's figures of the networks in examples/networks, which published_networks.cpp requires.

cmake/dev-env --with peers python3 tests/network/count_published_networks.py

The modules are torchvision's, written anew from the papers; nothing is allocated. Columns: network, input, classes,
parameters, running means and variances, multiply-adds of convolutions and linear layers.
"""
import pathlib
import sys

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "perf/suite/peers"))
from torch_networks import UNet  # noqa: E402


def lenet5(c, h, w, classes, border=2):
    flat = 16 * (((h + 2 * border - 4) // 2 - 4) // 2) * (((w + 2 * border - 4) // 2 - 4) // 2)
    return nn.Sequential(nn.Conv2d(c, 6, 5, padding=border), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(),
                         nn.AvgPool2d(2), nn.Flatten(), nn.Linear(flat, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
                         nn.Linear(84, classes))


def alexnet(c, h, w, classes):
    return nn.Sequential(
        nn.Conv2d(c, 64, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(3, 2), nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(), nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(6), nn.Flatten(),
        nn.Dropout(), nn.Linear(256 * 36, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(),
        nn.Linear(4096, classes))


def vgg16(c, h, w, classes):
    layers = []
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if width:
            layers += [nn.Conv2d(c, width, 3, padding=1), nn.ReLU()]
            c = width
        else:
            layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), nn.Linear(512 * 49, 4096), nn.ReLU(),
                         nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, classes))


class Block(nn.Module):
    def __init__(self, inputs, width, step, bottleneck):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        if bottleneck:
            shape = [(inputs, width, 1, 1), (width, width, 3, step), (width, outputs, 1, 1)]
        else:
            shape = [(inputs, width, 3, step), (width, width, 3, 1)]
        layers = []
        for a, b, taps, stride in shape:
            layers += [nn.Conv2d(a, b, taps, stride, taps // 2, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
        self.main = nn.Sequential(*layers[:-1])
        self.shortcut = nn.Identity()
        if step != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, step, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.main(x) + self.shortcut(x))


def resnet(counts, bottleneck):
    def make(c, h, w, classes):
        layers = [nn.Conv2d(c, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        inputs = 64
        for stage, count in enumerate(counts):
            for k in range(count):
                width = 64 << stage
                layers.append(Block(inputs, width, 2 if stage and not k else 1, bottleneck))
                inputs = 4 * width if bottleneck else width
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
    return make


def unet(c, h, w, classes, widths):
    return UNet(c, widths, classes)


def figures(make, c, h, w, classes, **options):
    with torch.device("meta"):
        module = make(c, h, w, classes, **options)
        sums = [0]

        def count(layer, x, y):
            # A transposed convolution's products are those of the convolution that it is the transpose of.
            sums[0] += (x[0].numel() if isinstance(layer, nn.ConvTranspose2d) else y.numel()) * layer.weight[0].numel()

        for layer in module.modules():
            if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
                layer.register_forward_hook(count)
        module.eval()
        assert module(torch.empty(1, c, h, w)).shape[:2] == (1, classes)
    parameters = sum(p.numel() for p in module.parameters())
    buffers = sum(b.numel() for name, b in module.named_buffers() if not name.endswith("num_batches_tracked"))
    return parameters, buffers, sums[0]


networks = {"LeNet5": lenet5, "AlexNet": alexnet, "VGG16": vgg16, "ResNet18": resnet((2, 2, 2, 2), False),
            "ResNet34": resnet((3, 4, 6, 3), False), "ResNet50": resnet((3, 4, 6, 3), True)}
print("LeNet5", (1, 32, 32, 10), "without a border", *figures(lenet5, 1, 32, 32, 10, border=0))
for name, make in networks.items():
    for shape in ((1, 28, 28, 10) if name == "LeNet5" else (3, 224, 224, 1000), (1, 120, 85, 27)):
        print(name, shape, *figures(make, *shape))
for shape, widths in (((1, 512, 512, 1), (64, 128, 256, 512, 1024)), ((16, 128, 128, 3), (32, 64, 128))):
    print("UNet", shape, widths, *figures(unet, *shape, widths=widths))
