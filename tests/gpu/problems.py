"""What our convolutions and torch's are both asked for: layers of known networks, big enough to be the GPU's work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from doctor.commands.verify.cudnn_trial.convolution import Problem


class Layer(NamedTuple):
    """One 2D convolution layer; square images and filters."""

    name: str
    batch: int
    channels: int
    size: int
    filters: int
    taps: int
    stride: int
    padding: int


# Krizhevsky 2012 (as in Caffe's bvlc_alexnet, without its groups), VGG-16, ResNet-50, GoogLeNet.
LAYERS = (
    Layer("alexnet conv1", 128, 3, 227, 96, 11, 4, 0),
    Layer("alexnet conv2", 128, 96, 27, 256, 5, 1, 2),
    Layer("vgg16 conv2_2", 64, 128, 112, 128, 3, 1, 1),
    Layer("vgg16 conv4_2", 64, 512, 28, 512, 3, 1, 1),
    Layer("resnet50 conv1", 128, 3, 224, 64, 7, 2, 3),
    Layer("resnet50 conv3_1x1", 128, 128, 28, 512, 1, 1, 0),
    Layer("resnet50 conv4_3x3", 128, 256, 14, 256, 3, 1, 1),
    Layer("googlenet 3a_5x5", 128, 16, 28, 32, 5, 1, 2),
)
# How frameworks train today, and how they did: dtype and layout.
KINDS = (("fp32", "nchw"), ("tf32", "nchw"), ("tf32", "nhwc"), ("fp16", "nchw"), ("fp16", "nhwc"), ("bf16", "nhwc"))
TINY = (Layer("tiny", 2, 4, 9, 8, 3, 1, 1), Layer("tiny stride 2", 2, 3, 8, 4, 3, 2, 0))  # for machines without a GPU


def problem(layer: Layer, dtype: str, layout: str) -> Problem:
    """The layer as a problem."""
    return Problem(
        dtype=dtype,
        x=(layer.batch, layer.channels, layer.size, layer.size),
        w=(layer.filters, layer.channels, layer.taps, layer.taps),
        padding=(layer.padding,) * 2,
        stride=(layer.stride,) * 2,
        dilation=(1, 1),
        layout=layout,
    )


def all_problems(
    layers: tuple[Layer, ...] = LAYERS, kinds: tuple[tuple[str, str], ...] = KINDS
) -> Iterator[tuple[Layer, Problem]]:
    """Every layer in every kind."""
    return ((layer, problem(layer, *kind)) for kind in kinds for layer in layers)
