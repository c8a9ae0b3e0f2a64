"""Numbers, lists and strangers' texts in sentences; numbers in LaTeX."""

import math
from collections.abc import Sequence
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray


def join_words(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def count_noun(n: int, noun: str) -> str:
    """`1 layer`, `6 layers`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def count_heads(n_layers: int, n_heads: int) -> str:
    """`6 layers × 12 heads`."""
    return f"{count_noun(n_layers, 'layer')} × {count_noun(n_heads, 'head')}"


def write_amount(x: float, sign: str = "") -> str:
    """Two decimals, or three digits of a large number: `1.50`, `2.07e+08`."""
    return write_decimals(x, 2, sign) if abs(x) < 100_000 else with_minus(f"{x:{sign}.3g}")


def write_decimals(x: float, decimals: int, sign: str = "") -> str:
    """`−0.62`, `0.000`."""
    return write_signed(x, f"{sign}.{decimals}f")


def write_signed(x: float, number: str) -> str:
    """A number by its format, with a minus as in charts, and no sign on 0."""
    text = format(x, number)
    return with_minus(text) if float(text) else text.lstrip("+-")


def write_weight(weight: float) -> str:
    """A weight of attention: `0.68`, `0.0027`."""
    return f"{weight:.2f}" if weight >= 0.005 else write_number(weight, 2)


def name_device(device: str) -> str:
    """`a GPU`, `CPU`."""
    return "a GPU" if device == "cuda" else "CPU"


def round_parts(parts: Sequence[float], total: float) -> list[float]:
    """Round parts to two decimals so that they add up to the rounded total."""
    if not all(map(math.isfinite, (*parts, total))) or abs(total) >= 100_000:
        return list(parts)
    floors = [math.floor(100 * part) for part in parts]
    n_up = round(100 * total) - sum(floors)
    if not 0 <= n_up <= len(parts):
        return list(parts)
    order = sorted(range(len(parts)), key=lambda i: floors[i] - 100 * parts[i])
    return [(floors[i] + (i in order[:n_up])) / 100 for i in range(len(parts))]


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def write_number(number: SupportsFloat, digits: int = 3) -> str:
    """A rounded number: `0.36`, `18,000`, `2.05 × 10⁻⁵`, `∞`."""
    x = float(number)
    if not math.isfinite(x):
        return "NaN" if math.isnan(x) else "∞" if x > 0 else "−∞"
    short = f"{x:.{digits}g}"
    if 1 <= abs(float(short)) < 100_000:  # no power of ten where digits are few: 18,000
        return with_minus(f"{float(short):,.0f}" if "e" in short else short)
    mantissa, _, exponent = with_minus(short).partition("e")
    if not exponent:
        return mantissa
    power = f"10{str(int(exponent.replace('−', '-'))).translate(_SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}\u00a0×\u00a0{power}"


def write_share(share: float) -> str:
    """A share with two digits at least: `0.031%`, `6.6%`."""
    return f"{share:.0%}" if share >= 0.0995 else f"{100 * share:.2g}%"


def quote_text(text: str, longest: int = 60) -> str:
    """Quote a stranger's text, cut, without markdown."""
    plain = "".join(character for character in text[:longest] if character.isalnum() or character in " .-+_/")
    return f"“{plain}{'…' if len(text) > longest else ''}”"


def quote_word(word: str, longest: int = 60) -> str:
    """Quote a stranger's word, cut; markdown is not escaped."""
    seen = "".join(character for character in word[:longest] if character.isprintable())
    return f"“{seen}{'…' if len(word) > longest else ''}”"


def with_minus(number: str) -> str:
    """Put a minus in place of a hyphen."""
    return number.replace("-", "−")


def lower_first(title: str) -> str:
    """A title within a sentence."""
    return title[0].lower() + title[1:]


def upper_first(name: str) -> str:
    """A name that begins a sentence."""
    return name[:1].upper() + name[1:]


# --- in LaTeX

_TERMS = 2
"""Of a long sum that are written."""


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


def sum_of_products(
    name: str, a: NDArray[np.floating], b: NDArray[np.floating], result: float, bias: float | None = None
) -> str:
    """Write name = Σ aᵢ bᵢ + bias = result, the start of a long sum."""
    digits = 4 if len(a) <= _TERMS else 3
    factors = zip(a[:_TERMS], b[:_TERMS], strict=True)
    products = " + ".join(rf"{factor(x, digits)} \cdot {factor(y, digits)}" for x, y in factors)
    end = f"= {number(result)}" if bias is None else f"+ {factor(bias, digits)} = {number(result)}"
    if len(a) <= _TERMS:
        return f"{name} = {products} {end}"
    return rf"\begin{{aligned}} {name} &= {products} \\ &\quad + \dots {end} \end{{aligned}}"
