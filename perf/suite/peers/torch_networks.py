# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measured networks as PyTorch has them; imported where torch is installed."""

import torch

nn = torch.nn


def mlp(*widths, normalization=None):
    """Linear layers with ReLU between them, and before each ReLU a normalization(width) if there is one."""
    layers = []
    for inputs, outputs in zip(widths, widths[1:-1]):
        layers += [nn.Linear(inputs, outputs)] + ([normalization(outputs)] if normalization else []) + [nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(*widths[-2:]))


def encoder(layers):
    return nn.Sequential(*(nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True) for _ in range(layers)))


def lenet_trunk():
    return [nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]


def lenet():
    return nn.Sequential(*lenet_trunk(), *mlp(400, 120, 84, 10))


class TwoHeadLeNet(nn.Module):
    """LeNet with a second head: the logits of the digit, and the position."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(*lenet_trunk())
        self.digit = mlp(400, 120, 84, 10)
        self.position = mlp(400, 84, 2)

    def forward(self, x):
        features = self.trunk(x)
        return self.digit(features), self.position(features)


class LstmForecast(nn.Module):
    """An LSTM over (N, T, C), and a Linear layer on its last output."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, 8)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Block(nn.Module):
    """ResNet's block of two convolutions."""

    def __init__(self, inputs, width, step):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(inputs, width, 3, step, 1, bias=False), nn.BatchNorm2d(width),
                                  nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
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
