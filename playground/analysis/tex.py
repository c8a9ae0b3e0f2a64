"""Numbers as LaTeX: short, with parentheses around negative factors."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
"""fp32 or fp64."""

TERMS = 2


def number(x: float, digits: int = 4) -> str:
    r"""Write a rounded number: `0.1234`, `1.2 \cdot 10^{-5}`, `10^{-5}`."""
    if not math.isfinite(x):
        return r"\mathrm{NaN}" if math.isnan(x) else r"\infty" if x > 0 else r"-\infty"
    mantissa, _, exponent = f"{x:.{digits}g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def factor(x: float, digits: int = 4) -> str:
    """Write a number with parentheses if it is negative."""
    text = number(x, digits)
    return f"({text})" if text.startswith("-") else text


def sum_of_products(name: str, a: Floats, b: Floats, result: float, bias: float | None = None) -> str:
    """Write name = Σ aᵢ bᵢ + bias = result, the start of a long sum."""
    digits = 4 if len(a) <= TERMS else 3
    factors = zip(a[:TERMS], b[:TERMS], strict=True)
    products = " + ".join(rf"{factor(x, digits)} \cdot {factor(y, digits)}" for x, y in factors)
    end = f"= {number(result)}" if bias is None else f"+ {factor(bias, digits)} = {number(result)}"
    if len(a) <= TERMS:
        return f"{name} = {products} {end}"
    return rf"\begin{{aligned}} {name} &= {products} \\ &\quad + \dots {end} \end{{aligned}}"
