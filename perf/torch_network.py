"""The peer of networks.py: the same network of floats in PyTorch, in half and channels_last, compiled, with other random weights."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class TorchNetwork(nn.Module):
    """Of the nodes that drawn_models.nodes_of gives."""

    def __init__(self, model):
        super().__init__()
        self.nodes, self.outputs, self.constants = model["nodes"], model["outputs"], {}
        self.weights = nn.ParameterList()
        multiplied = {name for node in self.nodes if node["kind"] in ("Conv", "Gemm") for name in node["inputs"][1:]}
        for name, constant in model["constants"].items():
            if name not in multiplied:
                self.constants[name] = constant["values"]
            else:
                shape = constant["shape"]
                fan = math.prod(shape[1:])
                self.constants[name] = len(self.weights)
                self.weights.append(nn.Parameter(torch.randn(shape) * math.sqrt(2 / fan) if len(shape) > 1 else torch.zeros(shape), requires_grad=False))

    def forward(self, x):
        values = {"x": x}
        for node in self.nodes:
            values[node["output"]] = self.run(node, values)
        outputs = [values[name] for name in self.outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def weight(self, node, at):
        return self.weights[self.constants[node["inputs"][at]]]

    def run(self, node, values):
        kind, a = node["kind"], node["attributes"]
        x = [values[name] for name in node["inputs"] if name in values]
        if kind == "Conv":
            return F.conv2d(x[0], self.weight(node, 1), self.weight(node, 2), tuple(a["strides"]), tuple(a["pads"][:2]), groups=a["group"])
        if kind == "Gemm":
            return F.linear(x[0], self.weight(node, 1), self.weight(node, 2))
        if kind == "MaxPool":
            return F.max_pool2d(x[0], tuple(a["kernel_shape"]), tuple(a["strides"]), tuple(a["pads"][:2]))
        if kind == "Clip":
            return x[0].clamp(*(self.constants[name][0] for name in node["inputs"][1:]))
        if kind == "Resize":
            return F.interpolate(x[0], scale_factor=tuple(self.constants[node["inputs"][2]][2:]), mode="nearest")
        return {"Relu": lambda: F.relu(x[0]), "HardSigmoid": lambda: F.hardsigmoid(x[0]), "Sigmoid": lambda: torch.sigmoid(x[0]), "Add": lambda: x[0] + x[1],
                "Mul": lambda: x[0] * x[1], "GlobalAveragePool": lambda: x[0].mean((2, 3), keepdim=True), "Flatten": lambda: x[0].flatten(1),
                "Concat": lambda: torch.cat(x, 1)}[kind]()


def compiled(model, mode):
    """A call of images (n, 3, h, w) of half in channels_last. mode: of torch.compile, one that makes no CUDA graphs, since the caller makes one."""
    network = TorchNetwork(model).half().cuda().eval().to(memory_format=torch.channels_last)
    torch.backends.cudnn.benchmark = True  # cuDNN tries its algorithms for each layer
    torch._dynamo.reset()
    return torch.compile(network, mode=mode, dynamic=False)
