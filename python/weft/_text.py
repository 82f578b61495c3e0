"""The C++ text of a policy, from its parts."""
from __future__ import annotations

import operator
import re
from typing import Any

from . import _weft

# Layout -> (source's type, filter's type, ready-made policy, its tile unless another is named).
_SOURCES = {
    "nc4": ("weft::NCxHWx<4>", "weft::CxRSKx<4>", "S8Conv4", "Tile64x64"),
    "nc32": ("weft::NCxHWx<32>", "weft::CxRSKx<32>", "S8Conv32", "Mma128x64"),
    "nhwc": ("weft::NHWC", "weft::KRSC", "S8ConvNhwc", "Mma128x64"),
}
_DEPTHWISE = {"nc4": "S8Depthwise4", "nc32": "S8Depthwise32", "nhwc": "S8DepthwiseNhwc"}
_LAYOUTS = {**{name: source[0] for name, source in _SOURCES.items()}, "nc64": "weft::NCxHWx<64>", "nchw": "weft::NCHW"}
_ELEMENTS = {"int8": "std::int8_t", "uint8": "std::uint8_t"}
_OUTPUTS = {
    "int8": "weft::epilogues::ClampTo<std::int8_t>",
    "uint8": "weft::epilogues::ClampTo<std::uint8_t>",
    "float32": "weft::epilogues::ToFloat",
    "float16": "weft::epilogues::RoundTo<weft::Half>",
    "bfloat16": "weft::epilogues::RoundTo<weft::Bfloat16>",
    "int32": "weft::epilogues::ToAccumulator",
}
_NUMBERS = {"int8": "std::int8_t", "uint8": "std::uint8_t", "float32": "float", "int32": "std::int32_t",
            "float16": "weft::Half", "bfloat16": "weft::Bfloat16"}
_BIASES = {"float32": "weft::epilogues::Bias<float>", "int32": "weft::epilogues::Bias<std::int32_t>", "sum": "weft::epilogues::SumBias"}
# Activations that do the same to steps of the output as to real values, and those of real values, which need output_scale.
_OF_STEPS = {"identity": None, "relu": "Relu", "leaky_relu": "LeakyRelu", "prelu": "PRelu", "clamp": "ClampRange"}
_OF_REAL_VALUES = {"hswish": "HSwish", "hsigmoid": "HSigmoid", "sigmoid": "Sigmoid", "silu": "Silu", "tanh": "Tanh",
                   "gelu": "Gelu", "gelu_tanh": "GeluTanh", "relu6": "Relu6"}
# The members of these that a call may set by name.
_VALUES = {"LeakyRelu": ["slope"], "PRelu": ["slope"], "ClampRange": ["low", "high"]}

PROLOGUES = {"shared": "SharedFilter", "per_sample": "PerSample", "local": "LocalFilter", "grouped": "Grouped"}


def one_of(name: str, value: Any, choices: dict[str, Any]) -> Any:
    """The choice called `value`, or a sentence that says which there are."""
    key = str(value).lower()
    if key not in choices:
        known = ", ".join(f'"{choice}"' for choice in choices)
        raise _weft.ArgumentError(f"weft: {name}={value!r} is none of {known}")
    return choices[key]


class Epilogue:
    """What becomes of a sum: scale, bias, an activation, the type of the output.

    activation: the name of a ready-made one ("identity", "relu", "leaky_relu", "prelu", "clamp"; of real values, which
        need output_scale= at the call: "hswish", "hsigmoid", "sigmoid", "silu", "tanh", "gelu", "gelu_tanh", "relu6"),
        or C++ text whose last struct is a functor of your own:

            weft.Epilogue("struct Mine { constexpr float operator()(float x) const { return x > 0 ? x : 0.1f * x; } };")

        A functor's members of type float, std::int32_t or const float* are values that an operator has by name.
    bias: the type of the bias, "float32" or "int32", which has k numbers in units of alpha times the sum; "sum", k int32
        that are added to the exact sum, in its units, as ONNX and TFLite have them; or None for none.
    residual: the type of a tensor that is added before the activation, as "int8", or None for none.
    output_scale: whether the call gives the real value of a step of the output; None: where the activation is of real
        values, or your own and the output of 8 bits.
    dtype: of the output; None: the operator's. "int32" is the sums as they are, with a bias of "sum" or None.
    round_first: whether t is rounded before zero_point is added, too, as ONNX, TFLite and PyTorch do.
    max_pool: (size, step, padding) of windows, such as (3, 2, 1), of which the output has the greatest integers: of a Conv2d over "nc4"
        whose tile is a "WgmmaFirst...", size 2 or 3 and step 2; or None.

    The stages, in this order, each rounded once: t = gamma * residual; t = fma(alpha, sum, t); t = fma(beta, bias, t);
    the activation; t / output_scale; t + zero_point, rounded half to even and clamped.
    """

    def __init__(self, activation: str = "identity", *, bias: str | None = "float32", residual: str | None = None,
                 output_scale: bool | None = None, dtype: str | None = None, round_first: bool = False,
                 max_pool: tuple[int, int, int] | None = None) -> None:
        self.code, self.values, stage, real = "", [], None, False
        if activation in _OF_STEPS:
            stage = _OF_STEPS[activation]
        elif activation in _OF_REAL_VALUES:
            stage, real = _OF_REAL_VALUES[activation], True
        elif isinstance(activation, str) and "{" in activation:
            self.code, real = activation, True
            stage = _weft.last_type(activation)
            if not stage:
                raise _weft.ArgumentError("weft: the text of the activation defines no struct; write `struct Mine { constexpr float operator()(float x) const { ... } };`")
        else:
            known = ", ".join(f'"{name}"' for name in [*_OF_STEPS, *_OF_REAL_VALUES])
            raise _weft.ArgumentError(f"weft: activation={activation!r} is neither C++ text that defines a struct nor one of {known}")
        self.own, self.real = bool(self.code), real
        self.values = list(_VALUES.get(stage or "", [])) if not self.code else []
        self.stage = None if stage is None else stage if self.code else f"weft::epilogues::{stage}"
        self.bias = None if bias is None else one_of("bias", bias, _BIASES)
        self.residual = None if residual is None else one_of("residual", residual, {k: _NUMBERS[k] for k in ("int8", "uint8", "float32", "float16", "bfloat16")})
        self.output_scale, self.dtype, self.round_first = output_scale, dtype, round_first
        self.max_pool = None
        if max_pool is not None:
            try:
                size, step, padding = (operator.index(number) for number in max_pool)
            except (TypeError, ValueError):
                raise _weft.ArgumentError(f"weft: max_pool={max_pool!r} is not three integers; give (size, step, padding), such as (3, 2, 1)") from None
            if size not in (2, 3) or step != 2 or not 0 <= padding < size:
                raise _weft.ArgumentError(f"weft: max_pool={max_pool!r} is none of a size of 2 or 3, a step of 2, and a padding less than the size; give such as (3, 2, 1)")
            self.max_pool = f"weft::epilogues::MaxPool<{size}, {step}, {padding}>"

    def text(self, dtype: str, source_zero_point: bool = False) -> str:
        """The type of the chain, for an output of this dtype unless the epilogue has one of its own.

        source_zero_point: whether x has one.
        """
        dtype = str(self.dtype or dtype).lower()
        output = one_of("dtype", dtype, _OUTPUTS)
        if self.round_first and dtype not in _ELEMENTS:
            raise _weft.ArgumentError(f"weft: round_first is for an output of int8 or uint8, and not of {dtype}")
        if self.max_pool and dtype not in _ELEMENTS:
            raise _weft.ArgumentError(f"weft: max_pool is for an output of int8 or uint8, and not of {dtype}")
        sums = ["weft::epilogues::SourceZeroPoint"] if source_zero_point else []
        sums += [self.bias] if self.bias == _BIASES["sum"] else []
        if dtype == "int32":
            if self.stage or self.residual or self.output_scale:
                raise _weft.ArgumentError("weft: dtype=int32 is the sums as they are, and takes no activation, residual or output_scale")
            if self.bias and self.bias not in sums:
                raise _weft.ArgumentError('weft: dtype=int32 is the sums as they are, and has no alpha in whose units the bias would be; '
                                          'give weft.Epilogue(bias="sum"), int32 that are added to the sums, or bias=None')
            return f"weft::epilogues::Chain<{', '.join([*sums, output])}>"
        scaled = self.output_scale if self.output_scale is not None else self.real and dtype in ("int8", "uint8")
        stages = [f"weft::epilogues::Residual<{self.residual}>"] if self.residual else []
        stages += [*sums, "weft::epilogues::Scale"]
        stages += [self.bias] if self.bias and self.bias not in sums else []
        stages += [self.stage] if self.stage else []
        stages += ["weft::epilogues::OutputScale"] if scaled else []
        stages += ["weft::epilogues::RoundFirst"] if self.round_first else []
        stages += [self.max_pool] if self.max_pool else []
        return f"weft::epilogues::Chain<{', '.join([*stages, output])}>"


EPILOGUES = {
    **{f"bias_{name}": dict(activation=name) for name in [*_OF_STEPS, *_OF_REAL_VALUES]},
    "residual_bias_relu": dict(activation="relu", residual="int8"),
    "qlinear": dict(activation="identity", bias="sum", round_first=True),  # ONNX's QLinearConv
    "sums": dict(activation="identity", bias=None, dtype="int32"),
}


def epilogue_of(epilogue: Any) -> Epilogue:
    """An Epilogue as it is, or the ready-made one of that name."""
    if isinstance(epilogue, Epilogue):
        return epilogue
    if isinstance(epilogue, str) and "{" in epilogue:
        return Epilogue(epilogue)
    return Epilogue(**one_of("epilogue", epilogue, EPILOGUES))


# What sentences about a policy say of C++ text, and what it is where the policy was made of parts that have names.
_OF_PARTS = [
    (r", lower config\.alignment\.dst, or use DstLayout NCxHWx<4>", ', or use dst="nc4"'),
    (r",( or)? lower config\.alignment\.src \([^)]*\)", ""),
    (r", or choose narrower stores with WithDstAlignment", ""),
    (r"SrcLayout NCxHWx<32> or NCxHWx<4>", 'layout="nc32" or "nc4"'),
    (r"SrcLayout NCxHWx<4>", 'layout="nc4"'),
    (r"(?:make config\.warp\.m smaller, or )?use NCxHWx<32>", 'use layout="nc32"'),
    (r"use an MmaSm80Config|take a config of mma_sm80( \(kMma\.\.\.\) or simt)?", 'use a tile such as "Mma128x64"'),
    (r"or use prologues::(SharedFilter|Grouped)", "or use weft.Conv2d"),  # said of a depthwise convolution
    (r"prologues::Grouped", 'prologue="grouped"'),
    (r"in src and filter", "in x and w"),
    (r"pad K", "pad k"),
    (r"pad C", "pad c"),
]


def in_words_of_parts(sentence: str, layout: str, tile: str | None) -> str:
    """A sentence about a policy in the words of who named the parts that it was made of."""
    if tile and re.search(rf"'{tile}' is not a member of|has no member .{tile}\b", sentence):
        return f'weft: tile={tile!r} is no name of a tile; docs/tiles.md has them, such as "Mma128x64"'
    if "does not read its SrcLayout" in sentence:
        return f"weft: tile={tile!r} does not read layout={layout!r}; docs/tiles.md has the tiles of each layout"
    if "does not compile" in sentence:
        return sentence
    for pattern, words in _OF_PARTS:
        sentence = re.sub(pattern, words, sentence)
    return sentence


def tile_text(tile: str) -> str:
    """The name of a tile's type, such as Mma128x64."""
    if not re.fullmatch(r"[A-Za-z_]\w*", str(tile)):
        raise _weft.ArgumentError(f"weft: tile={tile!r} is no name of a tile; docs/tiles.md has them, such as \"Mma128x64\"")
    return f"weft::conv::{tile}"


def default_tile(layout: str, prologue: str) -> str:
    """The tile that an operator has unless another is named."""
    if prologue == "Depthwise":
        return "Depthwise7x1" if str(layout).lower() == "nc4" else "Depthwise7x8"
    return one_of("layout", layout, _SOURCES)[3]


def _new_name(name: str, code: str) -> str:
    """The name, or a longer one: one that C++ text does not have."""
    while re.search(rf"\b{name}\b", code):
        name += "_"
    return name


def convolution(layout: str, dst: str | None, dtype: str, dst_dtype: str | None, epilogue: Epilogue, prologue: str, tile: str | None,
                problem: _weft.Problem, source_zero_point: bool) -> tuple[str, str, list[str]]:
    """The text of a convolution's policy and the names of its values."""
    source, filter_, base, default = one_of("layout", layout, _SOURCES)
    dst_type = one_of("dst", dst or layout, _LAYOUTS)
    element = one_of("dtype", dtype, _ELEMENTS)
    chain = epilogue.text(dst_dtype or dtype, source_zero_point)
    if source_zero_point and prologue in ("PerSample", "LocalFilter"):
        raise _weft.ArgumentError('weft: source_zero_point goes with one filter for all images and pixels, and not with prologue="per_sample" or "local"')
    chain_name, policy_name = _new_name("MyEpilogue", epilogue.code), _new_name("MyPolicy", epilogue.code)
    if prologue == "Depthwise":
        parts = [f"{chain_name}, {dst_type}"]
        parts += [tile_text(tile)] if tile else []
        base = f"weft::conv::{_DEPTHWISE[str(layout).lower()]}<{', '.join(parts)}>"
        prologue = ""  # the base's
    else:
        parts = [f"{chain_name}, {dst_type}, {tile_text(tile or default)}"]
        if str(layout).lower() == "nhwc" and not str(tile or default).startswith("Wgmma"):
            load = next(x for x in (16, 8, 4) if problem.c // problem.groups % x == 0 or x == 4)
            store = next(x for x in (8, 4, 1) if problem.k // problem.groups % x == 0)
            parts.append(f"{load}, {store}")
        base = f"weft::conv::{base}<{', '.join(parts)}>"
        prologue = f"weft::prologues::{prologue}" if prologue != "SharedFilter" else ""
    code = f"{epilogue.code}\nstruct {chain_name} : {chain} {{}};\n"
    return _weft.policy_source(policy_name, code, base, element, prologue), policy_name, epilogue.values
