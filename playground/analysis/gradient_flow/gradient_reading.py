"""What six backward passes say: first layer over last, a verdict, a factor a block, and a sentence of it."""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import pandas as pd

from playground.analysis.gradient_flow.gradient_variants import Comparison, Variant
from playground.analysis.gradient_flow.gradients import Flow, Norms
from playground.analysis.tex import number

LIMIT = 1_000
"""A gradient that changes by more than this factor from the last layer to the first is not steady.

A steady one is huge where it is longer than this anywhere, and tiny where it is shorter than 1 / this at the first."""

LOSS_LIMIT = 3
"""A loss of more than this many times an even guess's is high: before training, a loss starts near the guess's."""

DIGITS = 3
"""Of each shown number, at least."""

Verdict = Literal[
    "steady",
    "steady, but huge",
    "steady, but tiny",
    "steady, but high loss",
    "vanishing",
    "exploding",
    "zero",
    "infinite",
    "not a number",
]

CHAIN_FORMULAS = {
    ("post", True): "N' (I + f')",
    ("pre", True): "I + f' N'",
    ("none", True): "I + f'",
    ("post", False): "N' f'",
    ("pre", False): "f' N'",
    ("none", False): "f'",
}
"""What one sublayer f multiplies a gradient by, in LaTeX, by norm and residual; N' and f' are derivatives.

Xiong et al. 2020, section 3, for both places of the norm; He et al. 2015, section 3.2, for the identity I.
"""

VERDICTS: dict[Verdict, tuple[str, str]] = {
    "steady": ("green", ""),
    "steady, but huge": ("orange", ""),
    "steady, but tiny": ("orange", ""),
    "steady, but high loss": ("orange", ""),
    "vanishing": ("blue", ""),
    "exploding": ("red", ""),
    "zero": ("gray", " in every layer"),
    "infinite": ("red", ", beyond 32-bit floats"),
    "not a number": ("red", ", as numbers on the way leave 32-bit floats"),
}
"""Each verdict's colour on a page, and what a sentence adds to it."""


def first_over_last(norms: Norms) -> float:
    """The first layer's gradient over the last one's; NaN for 0 / 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(norms[0] / norms[-1])


def judge(norms: Norms, loss: float, even_guess: float) -> Verdict:
    """What becomes of a gradient from the last layer to the first; norms are in the order of the layers."""
    numbers = np.append(norms, loss)
    if np.isnan(numbers).any():
        return "not a number"
    if np.isinf(numbers).any():
        return "infinite"
    if not norms.any():
        return "zero"
    ratio = first_over_last(norms)
    if ratio > LIMIT:
        return "exploding"
    if ratio < 1 / LIMIT:
        return "vanishing"
    if norms.max() > LIMIT:
        return "steady, but huge"
    if norms[0] < 1 / LIMIT:
        return "steady, but tiny"
    return "steady, but high loss" if loss > LOSS_LIMIT * even_guess else "steady"


def judge_all(comparison: Comparison, part: str) -> dict[Variant, Verdict]:
    """One part's verdicts at full depth by variant, of those that have it."""
    flows = comparison.full_depth
    return {
        variant: judge(norms, flows[variant].loss, comparison.even_guess)
        for variant, norms in of_part(flows, part).items()
    }


def of_part(flows: Mapping[Variant, Flow], part: str) -> dict[Variant, Norms]:
    """One part's gradients by variant, of those that have it: the norms of an encoder without norms are not there."""
    return {variant: flow.gradients[part] for variant, flow in flows.items() if part in flow.gradients}


def first_and_last(part: str, n_layers: int) -> tuple[str, str]:
    """How the ends of a part's gradients are called."""
    return ("the embeddings", "the last block's output") if part == "stream" else ("layer 0", f"layer {n_layers - 1}")


def describe(comparison: Comparison, part: str) -> str:
    """The question, its answer in this run's numbers, what the answer's words mean, and each encoder's verdict."""
    n_layers = comparison.config.n_layers
    first, last = first_and_last(part, n_layers)
    gradients, verdicts = of_part(comparison.full_depth, part), judge_all(comparison, part)
    steady = sum(verdict == "steady" for verdict in verdicts.values())
    sentences = [
        f"**{'Do' if part == 'stream' else 'Does'} {first} still get a gradient of useful size?** "
        f"**{_share(steady, len(verdicts))}**",
        f"*Useful* means: steady, between 1/{LIMIT:,} and {LIMIT:,} long, at a loss of at most {LOSS_LIMIT} times an "
        "even guess's.",
    ]
    if part == "stream" or n_layers > 1:
        sentences.append(f"*Steady* means: from {last} to {first}, it changes by a factor of at most {LIMIT:,}.")
    else:
        sentences.append("One layer is first and last at once. With more layers, the gradient has a way.")
    for verdict, (_, addition) in VERDICTS.items():
        names = [_name_with_ratio(variant, gradients[variant]) for variant in gradients if verdicts[variant] == verdict]
        if names:
            sentences.append(f"**{verdict.capitalize()}**{addition}: {'; '.join(names)}.")
    return " ".join(sentences)


def _share(count: int, total: int) -> str:
    if not count:
        return f"No, in none of {total} encoders."
    return f"Yes, in {'all' if count == total else f'{count} of'} {total} encoders."


def by_layer(values: Mapping[Variant, Norms]) -> pd.DataFrame:
    """Numbers by variant as a table, a row a layer or a depth."""
    return pd.DataFrame({variant.name: numbers for variant, numbers in values.items()})


def chain_numbers(flow: Flow) -> str:
    r"""The way through all blocks in LaTeX: `0.9696^{12} = 0.69`; where it leads out of all numbers, NaN."""
    ratio, n_layers = first_over_last(flow.gradients["stream"]), len(flow.gradients["stream"]) - 1
    factor = ratio ** (1 / n_layers)  # of each block, as a geometric mean
    if not np.isfinite(factor):
        return r"\mathrm{NaN}"
    digits = count_digits(ratio, lambda factor: factor**n_layers, factor)
    return f"{number(factor, digits)}^{{{n_layers}}} = {number(ratio, DIGITS)}"


def ratio_numbers(norms: Norms) -> tuple[str, str, str]:
    """First over last, first, and last, in LaTeX: the shown ends give the shown ratio."""
    ratio, ends = first_over_last(norms), (float(norms[0]), float(norms[-1]))
    digits = count_digits(ratio, lambda first, last: first / last, *ends) if np.isfinite(ratio) and ratio else DIGITS
    return number(ratio, DIGITS), number(ends[0], digits), number(ends[1], digits)


def count_digits(result: float, combine: Callable[..., float], *parts: float) -> int:
    """The fewest digits of the parts, `DIGITS` or more, with which a reader finds the first `DIGITS` of the result."""
    for digits in range(DIGITS, 17):
        rounded = [float(f"{part:.{digits}g}") for part in parts]
        if f"{combine(*rounded):.{DIGITS}g}" == f"{result:.{DIGITS}g}":
            return digits
    return 17  # a double as it is


def _name_with_ratio(variant: Variant, norms: Norms) -> str:
    ratio = first_over_last(norms)
    return f"*{variant.name}*" + (f" ({times(ratio)})" if np.isfinite(ratio) else "")


def times(ratio: float) -> str:
    """A ratio in running text: `× 1.2`, and with a power of ten as LaTeX."""
    text = number(ratio, 2)
    return f"$\\times\\,{text}$" if "^" in text else f"× {text}"
