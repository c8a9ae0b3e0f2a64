"""Numbers as LaTeX: short, and in parentheses where a minus sign would run into the one before it."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
"""Of fp32 as a model computes it, or of fp64 as it is worked out by hand."""

MOST_DIGITS = 7
"""What a 32-bit float has."""

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
    """name = Σ aᵢ bᵢ + bias = result: the first products in three digits, the rest of a long sum below.

    A sum that is written in full has as many digits as it takes to work the result out from them.
    """
    digits = _count_digits(a, b, result, bias) if len(a) <= TERMS else 3
    factors = zip(a[:TERMS], b[:TERMS], strict=True)
    products = " + ".join(rf"{factor(x, digits)} \cdot {factor(y, digits)}" for x, y in factors)
    end = f"= {number(result)}" if bias is None else f"+ {factor(bias, digits)} = {number(result)}"
    if len(a) <= TERMS:
        return f"{name} = {products} {end}"
    return rf"\begin{{aligned}} {name} &= {products} \\ &\quad + \dots {end} \end{{aligned}}"


def _count_digits(a: Floats, b: Floats, result: float, bias: float | None) -> int:
    """The fewest digits, of three to `MOST_DIGITS`, from which Σ aᵢ bᵢ + bias rounds to the result's own digits."""

    def rounded(x: float, digits: int) -> float:
        return float(f"{x:.{digits}g}")

    def work_out(digits: int) -> float:
        products = (rounded(x, digits) * rounded(y, digits) for x, y in zip(a, b, strict=True))
        return sum(products) + rounded(bias or 0, digits)

    return next((n for n in range(3, MOST_DIGITS) if number(work_out(n)) == number(result)), MOST_DIGITS)
