#!/usr/bin/env python3
"""Quantises a small network of PyTorch by PT2E and exports it to ONNX: the other way to a model that `weft_run` takes.

    python examples/quantised_by_pytorch.py model.onnx               # uint8 activations, int8 weights of each channel, 64 x 64 pixels
    python examples/quantised_by_pytorch.py model.onnx --width 64 --size 224
    weft_run model.onnx --compare reference                          # the formulas of docs/networks.md: onnxruntime computes floats of such a model

It takes the packages torch, torchao, onnxscript and onnx. The network has the blocks of ResNets with random weights; yours takes the place of
`Network`, and pictures that of `torch.randn`, which calibrates. Nothing else changes.
"""
from __future__ import annotations

import argparse
import pathlib

import onnx
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import X86InductorQuantizer, get_default_x86_inductor_quantization_config


class Block(nn.Module):
    """Two convolutions and what they read, or a convolution of it, added up."""

    def __init__(self, c: int, k: int, stride: int) -> None:
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(c, k, 3, stride, 1, bias=False), nn.BatchNorm2d(k)
        self.second, self.second_norm = nn.Conv2d(k, k, 3, 1, 1, bias=False), nn.BatchNorm2d(k)
        self.first_relu, self.relu = nn.ReLU(), nn.ReLU()  # the quantizer looks for modules of their own
        self.short = nn.Sequential(nn.Conv2d(c, k, 1, stride, bias=False), nn.BatchNorm2d(k)) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first_relu(self.first_norm(self.first(x)))
        return self.relu(self.second_norm(self.second(y)) + self.short(x))


class Network(nn.Module):
    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.first, self.norm, self.pool = nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.MaxPool2d(3, 2, 1)
        self.blocks = nn.Sequential(Block(width, width, 1), Block(width, 2 * width, 2), Block(2 * width, 2 * width, 1))
        self.first_relu, self.last_relu = nn.ReLU(), nn.ReLU()
        self.last, self.average, self.classify = nn.Conv2d(2 * width, 4 * width, 1), nn.AdaptiveAvgPool2d(1), nn.Linear(4 * width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.pool(self.first_relu(self.norm(self.first(x)))))
        return self.classify(torch.flatten(self.average(self.last_relu(self.last(x))), 1))


def exported(model: nn.Module, size: int) -> onnx.ModelProto:
    """The quantised model, for any number of images."""
    images, free = (torch.randn(2, 3, size, size),), ({0: torch.export.Dim("n", min=1, max=1024)},)
    quantizer = X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(torch.export.export(model.eval(), images, dynamic_shapes=free).module(), quantizer)
    for _ in range(4):
        prepared(torch.randn(2, 3, size, size))
    program = torch.export.export(convert_pt2e(prepared), images, dynamic_shapes=free)
    return torch.onnx.export(program, images, dynamo=True, verbose=False).model_proto


def without_notes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same without the names of lines of source that the exporter notes at each node."""
    graph = model.graph
    for item in [model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer]:
        del item.metadata_props[:]
    return model


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file", type=pathlib.Path, help="the .onnx file that is written")
    arguments.add_argument("--size", type=int, default=64, help="rows and columns of an image")
    arguments.add_argument("--width", type=int, default=32, help="channels of the first convolution")
    arguments.add_argument("--classes", type=int, default=1000)
    a = arguments.parse_args()
    torch.manual_seed(0)
    model = without_notes(exported(Network(a.width, a.classes), a.size))
    onnx.save(model, a.file)
    print(f"{a.file}: {len(model.graph.node)} nodes, {a.file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
