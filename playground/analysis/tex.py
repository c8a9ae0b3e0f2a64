"""Numbers as LaTeX: short, with parentheses around negative factors."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
"""fp32 or fp64."""

MOST_DIGITS = 7

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
    digits = _count_digits(a, b, result, bias) if len(a) <= TERMS else 3
    factors = zip(a[:TERMS], b[:TERMS], strict=True)
    products = " + ".join(rf"{factor(x, digits)} \cdot {factor(y, digits)}" for x, y in factors)
    end = f"= {number(result)}" if bias is None else f"+ {factor(bias, digits)} = {number(result)}"
    if len(a) <= TERMS:
        return f"{name} = {products} {end}"
    return rf"\begin{{aligned}} {name} &= {products} \\ &\quad + \dots {end} \end{{aligned}}"


def _count_digits(a: Floats, b: Floats, result: float, bias: float | None) -> int:
    def rounded(x: float, digits: int) -> float:
        return float(f"{x:.{digits}g}")

    def work_out(digits: int) -> float:
        products = (rounded(x, digits) * rounded(y, digits) for x, y in zip(a, b, strict=True))
        return sum(products) + rounded(bias or 0, digits)

    return next((n for n in range(3, MOST_DIGITS) if number(work_out(n)) == number(result)), MOST_DIGITS)
