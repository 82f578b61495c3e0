"""Elements of SVG and HTML as text, and the colours of formats."""
from __future__ import annotations

import re
from html import escape

# Told apart by people who see few colours, too: their lightness differs as well.
COLORS = {"nchw": "#7b8794", "nhwc": "#c98310", "nc4": "#2f9e6e", "nc32": "#2f6fc4"}
MEANINGS = {"nchw": "NCHW, as models have it", "nhwc": "NHWC, channels last", "nc4": "blocks of 4 channels", "nc32": "blocks of 32 channels"}
# What no file in XML may hold.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

STYLE = """
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 11px; fill: #1b2430; }
text.small { font-size: 9.5px; fill: #5a6675; }
text.head { font-size: 13px; font-weight: 600; }
text.strong { font-weight: 600; }
text.right { text-anchor: end; }
text.middle { text-anchor: middle; }
.box { stroke-width: 1; }
.node .box { fill: #f7f8fa; stroke: #b9c2cd; }
.port .box { fill: #1b2430; stroke: #1b2430; }
.port text { fill: #ffffff; }
.fused { fill: #fff6dc; stroke: #d8b24a; stroke-width: 1; }
.link { fill: #eef1f5; }
.link.several { fill: #fff0c4; }
.edge { fill: none; stroke: #9aa5b1; stroke-width: 1.3; }
.wire { fill: none; stroke-width: 2.2; }
.kernel text.small { fill: #2c3a4b; }
.life text.dark { fill: #2c3a4b; }
.kernel text.light { fill: #ffffff; }
.added .box { stroke-dasharray: 4 2; }
.floor { fill: #111827; opacity: 0.55; }
.rule { stroke: #e3e7ec; stroke-width: 1; }
.need { fill: none; stroke: #111827; stroke-width: 1.2; stroke-dasharray: 3 2; }
.node:hover .box, .kernel:hover .box, .life:hover rect { stroke: #111827; stroke-width: 2; }
"""


def element(name: str, content: str = "", **attributes: object) -> str:
    """An element of XML. Of the attributes' names a last _ is left out, and _ becomes -; numbers get one digit behind the point."""
    said = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items() if value is not None)
    return f"<{name}{said}>{content}</{name}>" if content else f"<{name}{said}/>"


def plain(text: object) -> str:
    """A text as it is written between elements."""
    return escape(_CONTROLS.sub("?", str(text)), quote=False)


def text(x: float, y: float, said: object, class_: str | None = None, **attributes: object) -> str:
    return element("text", plain(said), x=x, y=y, class_=class_, **attributes)


def shortened(said: str, width: float, size: float = 11.0) -> str:
    """As much of the end of a text as `width` pixels have room for: ends are what tells the names of nodes apart."""
    most = max(2, int(width / (0.56 * size)))
    return said if len(said) <= most else "\u2026" + said[len(said) - most + 1 :]


def faded(color: str, part: float) -> str:
    """A colour on white of which `part` is left."""
    return "#" + "".join(f"{round(255 - part * (255 - int(color[i : i + 2], 16))):02x}" for i in (1, 3, 5))


def gradients(pairs: list[tuple[str, str]]) -> str:
    """The fills of kernels that change a format, by gradient_of."""
    made = (element("linearGradient", element("stop", offset="25%", stop_color=faded(COLORS[a], 0.4)) + element("stop", offset="75%", stop_color=faded(COLORS[b], 0.4)),
                    id=f"{a}-{b}") for a, b in sorted(set(pairs)))
    return element("defs", "".join(made))


def fill_of(source: str, destination: str) -> str:
    """The fill of a kernel that reads one format and writes another."""
    return faded(COLORS[source], 0.4) if source == destination else f"url(#{source}-{destination})"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return escape(_CONTROLS.sub("?", str(value)))
