#!/usr/bin/env python3
"""Coefficients of the polynomials in epilogues/exp_activations.hpp.

Needs mpmath (pip install mpmath). Prints each polynomial, from the highest coefficient to the lowest,
with its greatest weighted error before the coefficients are rounded to float, and fails if the header
has another number. Not a test of CI: the header's errors are tested there.
"""
import pathlib
import struct
import sys

import mpmath as mp

mp.mp.prec = 120


def remez(f, weight, a, b, degree):
    """The polynomial of `degree` whose greatest weight(x) |f(x) - p(x)| on [a, b] is least.

    Returns its coefficients from x^0 on, and that error.
    """
    grid = 400
    count = degree + 2  # places where the error is to be extreme
    a, b = mp.mpf(a), mp.mpf(b)
    places = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    xs = [a + (b - a) * k / grid for k in range(grid + 1)]
    while True:
        system, values = mp.matrix(count, count), mp.matrix(count, 1)
        for row, x in enumerate(places):
            for i in range(degree + 1):
                system[row, i] = x**i
            system[row, degree + 1] = (-1) ** row / weight(x)
            values[row] = f(x)
        solution = mp.lu_solve(system, values)
        c = [solution[i] for i in range(degree + 1)]

        def error(x):
            return weight(x) * (f(x) - mp.polyval(c[::-1], x))

        errors = [error(x) for x in xs]
        extremes, at = [], 0
        for k in range(1, grid + 1):
            if mp.sign(errors[k]) != mp.sign(errors[at]):
                extremes.append(at)
                at = k
            elif abs(errors[k]) > abs(errors[at]):
                at = k
        extremes.append(at)
        while len(extremes) > count:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        assert len(extremes) == count, "the error does not alternate often enough"
        places = []
        for k in extremes:
            low, high = xs[max(k - 1, 0)], xs[min(k + 1, grid)]
            for _ in range(25):
                left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
                if abs(error(left)) < abs(error(right)):
                    low = left
                else:
                    high = right
            places.append((low + high) / 2)
        greatest = max(abs(error(x)) for x in places)
        if greatest - abs(solution[degree + 1]) < greatest * mp.mpf("1e-4"):
            return c, greatest


def as_float(x):
    """x rounded to float, as C++ writes it in hexadecimal."""
    digits, exponent = struct.unpack("f", struct.pack("f", float(x)))[0].hex().split("p")
    return digits.rstrip("0").rstrip(".") + "p" + exponent + "f"


LN2 = mp.log(2)


def power_minus_1(r):
    """(2^r - 1) / r."""
    return mp.expm1(r * LN2) / r if r != 0 else LN2


def tail(m):
    """Phi(-m), of the normal distribution."""
    return mp.erfc(m / mp.sqrt(2)) / 2


def log_of_tail(m):
    """(log2(Phi(-m)) + 1) / m."""
    return (mp.log(tail(m), 2) + 1) / m if m != 0 else -2 / mp.sqrt(2 * mp.pi) / LN2


POLYNOMIALS = {
    # Relative to 2^r; the constant is 1.
    "Power": (power_minus_1, lambda r: max(abs(r), mp.mpf("1e-4")) * 2**-r, -0.5, 0.5, 4),
    # Relative to 2^r - 1.
    "PowerMinus1": (power_minus_1, lambda r: 1 / power_minus_1(r), -0.5, 0.5, 5),
    # In gelu(x), of which log2(Phi) errs m m Phi(-m) ln(2) times as much; the constant is -1. The
    # small terms keep what is far out near its place.
    "Gelu": (
        log_of_tail,
        lambda m: m * m * tail(m) * LN2 + m * mp.mpf("1e-6") + mp.mpf("1e-9"),
        0,
        8,
        7,
    ),
}


def main():
    header = pathlib.Path(__file__).parent / "../../epilogues/exp_activations.hpp"
    text = header.read_text()
    missing = 0
    for name, arguments in POLYNOMIALS.items():
        coefficients, error = remez(*arguments)
        floats = [as_float(c) for c in reversed(coefficients)]
        print(f"{name}: {', '.join(floats)}; error {mp.nstr(error, 3)}")
        missing += sum(x not in text for x in floats)
    linear = 2 * mp.sqrt(2 / mp.pi) / LN2
    others = {"log2(e)": 1 / LN2, "kLinear": -linear, "kCubic": -linear * mp.mpf("0.044715")}
    for name, value in others.items():
        print(f"{name}: {as_float(value)}")
        missing += as_float(value) not in text
    if missing:
        sys.exit(f"{missing} of these are not in {header}")


if __name__ == "__main__":
    main()
