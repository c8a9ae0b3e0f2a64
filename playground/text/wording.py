"""Words in sentences: lists, and texts of strangers."""

import math
from collections.abc import Sequence
from typing import SupportsFloat


def join_words(words: Sequence[str]) -> str:
    """Words as a sentence lists them: `a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def count_noun(n: int, noun: str) -> str:
    """`1 layer`, `6 layers`: a number and what it counts, of nouns whose plural ends with s."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def count_heads(n_layers: int, n_heads: int) -> str:
    """`6 layers × 12 heads`: how many heads an encoder has."""
    return f"{count_noun(n_layers, 'layer')} × {count_noun(n_heads, 'head')}"


def write_amount(x: float, sign: str = "") -> str:
    """A number with two decimals, a large one with three digits: `1.50`, `2.07e+08`; 0 has no sign.

    `sign="+"` writes a plus too.
    """
    return write_decimals(x, 2, sign) if abs(x) < 100_000 else with_minus(f"{x:{sign}.3g}")


def write_decimals(x: float, decimals: int, sign: str = "") -> str:
    """A number with so many decimals, and without a sign where these are 0: `−0.62`, `0.000`."""
    return write_signed(x, f"{sign}.{decimals}f")


def write_signed(x: float, number: str) -> str:
    """A number by its format, with the minus that charts have, and without a sign where what is written is 0."""
    text = format(x, number)
    return with_minus(text) if float(text) else text.lstrip("+-")


def write_weight(weight: float) -> str:
    """A weight of attention: two decimals, or two digits of one that these would round to 0: `0.68`, `0.0027`."""
    return f"{weight:.2f}" if weight >= 0.005 else write_number(weight, 2)


def name_device(device: str) -> str:
    """What PyTorch's device is called in a sentence: `a GPU`, `CPU`."""
    return "a GPU" if device == "cuda" else "CPU"


def round_parts(parts: Sequence[float], total: float) -> list[float]:
    """Parts of a total with two decimals that add up to the total's own: those are moved that were nearest to it.

    Parts that miss the total by more than rounding stay as they are.
    """
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
    """A rounded number, with a power of ten as charts write one: `0.36`, `18,000`, `2.05 × 10⁻⁵`, `10⁶`, `∞`.

    No line ends within it.
    """
    x = float(number)
    if not math.isfinite(x):
        return "NaN" if math.isnan(x) else "∞" if x > 0 else "−∞"
    short = f"{x:.{digits}g}"
    if 1 <= abs(float(short)) < 100_000:  # no power of ten where digits are few: 18,000
        return with_minus(f"{float(short):,.0f}" if "e" in short else short)
    mantissa, _, exponent = with_minus(short).partition("e")
    if not exponent:
        return mantissa
    power = f"10{superscript(int(exponent.replace('−', '-')))}"
    return power if mantissa == "1" else f"{mantissa}\u00a0×\u00a0{power}"


def superscript(number: int) -> str:
    """A whole number above the line."""
    return str(number).translate(_SUPERSCRIPTS)


def write_share(share: float) -> str:
    """A share in percent with two digits at least, however small it is: `0.031%`, `6.6%`, `140%`."""
    return f"{share:.0%}" if share >= 0.0995 else f"{100 * share:.2g}%"


def quote_text(text: str, longest: int = 60) -> str:
    """A stranger's text in quotation marks, cut to `longest` characters, without what markdown would act on."""
    plain = "".join(character for character in text[:longest] if character.isalnum() or character in " .-+_/")
    return f"“{plain}{'…' if len(text) > longest else ''}”"


def quote_word(word: str, longest: int = 60) -> str:
    """A stranger's word in quotation marks, cut to `longest` characters; a page has to escape what markdown acts on."""
    seen = "".join(character for character in word[:longest] if character.isprintable())
    return f"“{seen}{'…' if len(word) > longest else ''}”"


def with_minus(number: str) -> str:
    """A written number with the sign that charts have for minus, in place of a hyphen."""
    return number.replace("-", "−")


def lower_first(title: str) -> str:
    """A title as it stands within a sentence: with a small first letter."""
    return title[0].lower() + title[1:]


def upper_first(name: str) -> str:
    """A name as a sentence begins with it."""
    return name[:1].upper() + name[1:]
