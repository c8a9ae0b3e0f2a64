"""Numbers as LaTeX: short, and in parentheses where a minus sign would run into the one before it."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
"""Of fp32 as a model computes it, or of fp64 as it is worked out by hand."""

TERMS = 2
"""Products of a long sum that are spelled out."""


def number(x: float, digits: int = 4) -> str:
    r"""A rounded number: `0.1234`, `1.2 \cdot 10^{-5}`, `10^{-5}`."""
    if not math.isfinite(x):
        return r"\mathrm{NaN}" if math.isnan(x) else r"\infty" if x > 0 else r"-\infty"
    mantissa, _, exponent = f"{x:.{digits}g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def factor(x: float, digits: int = 4) -> str:
    """A number that another stands before: negative ones in parentheses."""
    text = number(x, digits)
    return f"({text})" if text.startswith("-") else text


def sum_of_products(name: str, a: Floats, b: Floats, result: float, bias: float | None = None) -> str:
    """name = Σ aᵢ bᵢ + bias = result: the first products in three digits, the rest of a long sum below."""
    products = " + ".join(rf"{factor(x, 3)} \cdot {factor(y, 3)}" for x, y in zip(a[:TERMS], b[:TERMS], strict=True))
    end = f"= {number(result)}" if bias is None else f"+ {factor(bias, 3)} = {number(result)}"
    if len(a) <= TERMS:
        return f"{name} = {products} {end}"
    return rf"\begin{{aligned}} {name} &= {products} \\ &\quad + \dots {end} \end{{aligned}}"
