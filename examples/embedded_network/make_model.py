#!/usr/bin/env python3
"""Makes edges.weft beside this file: a network of three nodes that finds the edges of a grey picture of 24 x 48 pixels.

    build/venv/bin/python examples/embedded_network/make_model.py
"""
import pathlib

import numpy as np

from weft.network import Graph, Node, Tensor, write_graph

H, W = 24, 48
laplacian = np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]], np.int8).reshape(1, 1, 3, 3)
absolute = np.minimum(np.abs(np.arange(256, dtype=np.uint8).view(np.int8).astype(int)), 127).astype(np.int8)

graph = Graph(name="edges", inputs=["picture"], outputs=["edges"])
graph.tensors = {t.name: t for t in (
    Tensor("picture", "float", (1, H, W)),
    Tensor("steps", "uint8", (1, H, W), float(np.float32(1 / 255)), 0),
    Tensor("curvature", "int8", (1, H, W), float(np.float32(8 / 127)), 0),
    Tensor("strength", "int8", (1, H, W), float(np.float32(8 / 127)), 0),
    Tensor("edges", "float", (1, H, W)))}
graph.nodes = [
    Node("quantize", "quantize", ["picture"], "steps"),
    Node("convolution", "laplacian", ["steps"], "curvature", window=(3, 3), padding=(1, 1, 1, 1), filter=laplacian,
         filter_scale=np.ones(1, np.float32)),
    Node("table", "absolute", ["curvature"], "strength", table=absolute.view(np.uint8)),
    Node("dequantize", "dequantize", ["strength"], "edges")]
(pathlib.Path(__file__).parent / "edges.weft").write_bytes(write_graph(graph))
