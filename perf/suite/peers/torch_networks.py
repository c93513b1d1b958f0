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


class Bottleneck(nn.Module):
    """ResNet's block of three convolutions, with the stride in the second one."""

    def __init__(self, inputs, width, step):
        super().__init__()
        layers = []
        for before, after, size, stride in ((inputs, width, 1, 1), (width, width, 3, step), (width, 4 * width, 1, 1)):
            layers += [nn.Conv2d(before, after, size, stride, size // 2, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        self.main = nn.Sequential(*layers[:-1])
        same = step == 1 and inputs == 4 * width
        self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, step, bias=False),
                                                                 nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return torch.relu(self.main(x) + self.shortcut(x))


def resnet50(channels, classes):
    layers = [nn.Conv2d(channels, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for count, width, step in ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)):
        layers += [Bottleneck(inputs, width, step)] + [Bottleneck(4 * width, width, 1) for _ in range(count - 1)]
        inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def vgg16(channels, classes):
    layers = []
    for count, width in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(count):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), nn.Linear(25088, 4096), nn.ReLU(), nn.Dropout(),
                         nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, classes))


def alexnet(channels, classes):
    return nn.Sequential(
        nn.Conv2d(channels, 64, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(3, 2), nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(), nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(6), nn.Flatten(), nn.Dropout(),
        nn.Linear(9216, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, classes))


class ContactMapAutoencoder(nn.Module):
    """Three convolutions, two dense layers and their mirror image around three latent numbers."""

    def __init__(self):
        super().__init__()
        convolutions = [nn.Conv2d(1, 128, 3, padding=1), nn.Conv2d(128, 128, 3, padding=1), nn.Conv2d(128, 128, 3, padding=1)]
        mirrored = [nn.ConvTranspose2d(128, 128, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(128, 128, 3, padding=1), nn.ReLU(),
                    nn.ConvTranspose2d(128, 1, 3, padding=1)]
        layers = [layer for convolution in convolutions for layer in (convolution, nn.ReLU())]
        self.encoder = nn.Sequential(*layers, nn.Flatten(), nn.Linear(100352, 128), nn.ReLU(), nn.Linear(128, 6))
        self.decoder = nn.Sequential(nn.Linear(3, 128), nn.ReLU(), nn.Linear(128, 100352), nn.ReLU(),
                                     nn.Unflatten(1, (128, 28, 28)), *mirrored)

    def forward(self, x):
        latent = self.encoder(x)
        mean, log_variance = latent.chunk(2, 1)
        return self.decoder(mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)), mean, log_variance


class UNet(nn.Module):
    """A level of the U and those below it; with the last layer, the whole of it."""

    def __init__(self, inputs, widths, classes=0):
        super().__init__()
        width, *below = widths
        self.encode, self.below = self.double_convolution(inputs, width), None
        if below:
            self.below = nn.Sequential(nn.MaxPool2d(2), UNet(width, below), nn.ConvTranspose2d(below[0], width, 2, 2))
            self.decode = self.double_convolution(2 * width, width)
        self.last = nn.Conv2d(width, classes, 1) if classes else nn.Identity()

    @staticmethod
    def double_convolution(inputs, width):
        return nn.Sequential(nn.Conv2d(inputs, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                             nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())

    def forward(self, x):
        x = self.encode(x)
        if self.below is not None:
            x = self.decode(torch.cat((self.below(x), x), 1))
        return self.last(x)


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, step in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inputs, width, step), Block(width, width, 1)]
        inputs = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
