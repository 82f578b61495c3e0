"""activation_picture.py FILE.svg: a picture of what an activation of one's own does, docs/images/activation.svg.

An operator of weft with the activation of docs/python.md runs over every value that int8 has, on the CPU. The picture has each
output beside the activation's curve, and below whose channels the first bytes of the operator's tensors are. It takes Python
with weft and numpy, and g++.
"""
import sys

import numpy as np
import weft

STEP_X, STEP_Y = 1 / 16, 1 / 4  # the real value of a step of x and of y
OP = weft.Conv2d("n1c16h16w16k32r1s1p0", layout="nc4", dst="nc32", epilogue=weft.Epilogue("""
    struct SquaredRelu {
      float scale = 1.0f;  // op.scale = 0.5 sets it
      constexpr float operator()(float x) const { return x > 0.0f ? weft::epilogues::Mul(scale, weft::epilogues::Mul(x, x)) : 0.0f; }
    };"""))
INK, MUTE, CURVE, DOT = "#1c2330", "#5a6475", "#c4713b", "#3b5b92"
STYLE = f"text {{ font: 11px system-ui, sans-serif; fill: {INK}; }} .mute {{ fill: {MUTE}; }}"
LEFT, WIDTH, TOP, HEIGHT, CELL, BYTES = 60, 640, 30, 240, 20, 32
TENSORS = (("x", "nc4", 16, "blocks of 4 channels: 8 pixels of a row"), ("y", "nc32", 32, "blocks of 32 channels: one pixel"))


def outputs():
    """Every value of int8 as the sum of a pixel, and what channel 0 of the output is there."""
    values = np.arange(-128, 128, dtype=np.int8)
    x, w = np.zeros((1, 16, 16, 16), np.int8), np.zeros((32, 16, 1, 1), np.int8)
    x[0, 0], w[:, 0] = values.reshape(16, 16), 1
    y = OP(weft.to_layout(x, "nc4"), OP.pack(w), bias=np.zeros(32, np.float32), alpha=STEP_X, output_scale=STEP_Y)
    return values.tolist(), weft.from_layout(y, "nc32")[0, 0].reshape(-1).tolist()


def text(x, y, words, anchor="start", kind=""):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind and f" class={chr(34)}{kind}{chr(34)}"}>{words}</text>'


def curve_and_outputs():
    """The activation's curve, and a dot for each of the outputs, which are whole steps and end at 127."""
    place = lambda real, out: (LEFT + WIDTH * (real + 8) / 16, TOP + HEIGHT * (1 - out / 42))  # noqa: E731
    curve = [place(v / 16, max(v / 16, 0) ** 2) for v in range(-128, 104)]
    parts = [f'<polyline fill="none" stroke="{CURVE}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in curve)}"/>']
    for real in range(-8, 9, 2):
        x, y = place(real, 0)
        parts.append(text(x, y + 16, real, "middle", "mute"))
    for out in range(0, 41, 8):
        parts.append(text(LEFT - 8, place(0, out)[1] + 4, out, "end", "mute"))
    dots = [place(value * STEP_X, step * STEP_Y) for value, step in zip(*outputs())]
    return parts + [
        f'<path stroke="{DOT}" stroke-width="3.4" stroke-linecap="round" d="{" ".join(f"M{x:.1f},{y:.1f}h0" for x, y in dots)}"/>',
        text(LEFT, TOP - 12, "SquaredRelu: a line for what it is of real numbers, a dot for each output of the operator"),
        text(LEFT + WIDTH, TOP + HEIGHT + 32, "alpha times the sum, plus the bias: the sums are all values of int8, alpha is 1 / 16", "end", "mute"),
        text(LEFT + 8, TOP + 4, "output, in real values: at most 127 steps of 1 / 4", "start", "mute")]


def memory(top, name, layout, channels, words):
    """Which channel each of the first bytes of a tensor belongs to, as weft.to_layout puts them."""
    planar = np.broadcast_to(np.arange(channels, dtype=np.int8)[:, None, None], (1, channels, 16, 16))
    first = weft.to_layout(planar, layout).reshape(-1)[:BYTES].tolist()
    parts = [text(LEFT, top - 8, f"the first {BYTES} bytes of {name} in {layout}, {words}; a number is the channel")]
    for i, channel in enumerate(first):
        x = LEFT + i * CELL
        parts += [f'<rect x="{x}" y="{top}" width="{CELL}" height="{CELL}" fill="hsl({360 * channel // 32} 60% 80%)" stroke="#fff"/>',
                  text(x + CELL / 2, top + 14, channel, "middle")]
    return parts


def picture():
    parts, top = curve_and_outputs(), TOP + HEIGHT + 68
    for number, tensor in enumerate(TENSORS):
        parts += memory(top + number * 56, *tensor)
    width, height = LEFT + WIDTH + 20, top + 56 + CELL + 10
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
                      'aria-label="outputs of an operator with an own activation, and the layouts of its tensors">', f"<style>{STYLE}</style>",
                      f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(picture())
