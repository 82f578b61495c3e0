"""Two pictures of a plan over its kernels from left to right: where time goes, and which tensors lie where in the arena."""
from __future__ import annotations

from .picture import measure_of, title_of_step
from .._profile import Plan
from .svg import COLORS, element, faded, plain, shortened, text
from .._table import bytes_in_words, extents_of

_WIDTH, _LEFT, _MAP_HEIGHT = 1160.0, 64.0, 260.0


def strip_of(plan: Plan) -> str:
    """All kernels in one bar, each as wide as its time, or what stands for it."""
    unit, measure = measure_of(plan)
    total = sum(map(measure, plan.steps)) or 1.0
    parts, x = [], 0.0
    for at, step in enumerate(plan.steps):
        width = _WIDTH * measure(step) / total
        inner = [element("title", plain(title_of_step(plan, step))),
                 element("rect", x=x, y=0.0, width=max(0.3, width - 1), height=34, class_="box", fill=faded(COLORS[step.destination.format], 0.75 if at % 2 else 0.95))]
        if width > 6 * len(str(at)) + 5:
            label = shortened(f"{at} {step.name}", width - 8, 9.5) if width > 110 else at
            inner.append(text(x + width / 2, 21.0, label, "small middle light"))
        parts.append(element("g", "".join(inner), class_="kernel"))
        x += width
    return _svg(_WIDTH, 34.0, "".join(parts))


def arena_of(plan: Plan) -> str:
    """The arena: kernels from left to right, bytes upwards; a box for each tensor, from the kernel that writes it to the last that reads it."""
    steps, size = max(1, len(plan.steps)), max(1, plan.arena_bytes)
    wide, high = (_WIDTH - _LEFT) / steps, _MAP_HEIGHT / size
    place = lambda at: _LEFT + wide * at
    level = lambda offset: 12 + _MAP_HEIGHT - high * offset
    parts = []
    for part in range(5):
        offset = size * part // 4
        parts += [element("path", d=f"M{_LEFT:.1f} {level(offset):.1f}H{_WIDTH:.1f}", class_="rule"),
                  text(_LEFT - 8, level(offset) + 3.5, bytes_in_words(offset) if offset else "0", "small right")]
    every = next(count for count in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, steps) if steps / count <= 30)
    parts += [text(place(at + 0.5), _MAP_HEIGHT + 26, at, "small middle") for at in range(0, len(plan.steps), every)]
    for tensor, first, last in sorted(plan.lives(), key=lambda life: (life[1], life[0].offset, life[2])):
        width, height = wide * (last - first + 1), max(1.0, high * tensor.bytes)
        title = f"{tensor.name} ({tensor.element} {'x'.join(map(str, tensor.shape))} {tensor.format})\n{tensor.bytes:,} bytes from {tensor.offset:,} on, kernels {first} to {last}"
        inner = [element("title", plain(title)), element("rect", x=place(first) + 0.7, y=level(tensor.offset) - height, width=max(0.5, width - 1.4), height=height, rx=2,
                                                         fill=faded(COLORS[tensor.format], 0.55), stroke=COLORS[tensor.format])]
        label = next((label for label in (f"{tensor.name} {extents_of(tensor.shape)}", extents_of(tensor.shape)) if 5.6 * len(label) < width - 8), "")
        if label and height > 12:
            inner.append(text(place(first) + width / 2, level(tensor.offset) - height / 2 + 3.5, label, "small middle dark"))
        parts.append(element("g", "".join(inner), class_="life"))
    line = "".join(f"{'L' if at else 'M'}{place(at):.1f} {level(need):.1f}H{place(at + 1):.1f}" for at, need in enumerate(_needed(plan)))
    parts.append(element("path", d=line, class_="need") if line else "")
    return _svg(_WIDTH, _MAP_HEIGHT + 34, "".join(parts))


def _needed(plan: Plan) -> list[int]:
    """Of each step the bytes of the arena that tensors take; those of a residual that is added in place are the sum's as well."""
    needed, lives = [], plan.lives()
    for at in range(len(plan.steps)):
        end = total = 0
        for begin, size in sorted((tensor.offset, tensor.bytes) for tensor, first, last in lives if first <= at <= last):
            total += max(0, begin + size - max(begin, end))
            end = max(end, begin + size)
        needed.append(total)
    return needed


def _svg(width: float, height: float, content: str) -> str:
    return element("svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:.0f} {height:.0f}", width=width, height=height, role="img")
