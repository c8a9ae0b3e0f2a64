"""What six backward passes say: first layer over last, a verdict, a factor a block, and a sentence of it."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from playground.analysis.gradient_variants import Variant
from playground.analysis.gradients import Flow, Norms
from playground.analysis.tex import number

LIMIT = 1_000
"""A gradient that changes by more than this factor, either way, from the last layer to the first counts as lost."""

Verdict = Literal["steady", "vanishing", "exploding", "zero", "infinite", "not a number"]

PARTS = ("whole layer", "attention", "feed-forward", "norms", "stream")
"""What a gradient is of, by the names of `Flow.gradients`."""

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


def judge(norms: Norms) -> Verdict:
    """What becomes of a gradient from the last layer to the first; norms are in the order of the layers."""
    if np.isnan(norms).any():
        return "not a number"
    if np.isinf(norms).any():
        return "infinite"
    if not norms.any():
        return "zero"
    ratio = first_over_last(norms)
    if ratio > LIMIT:
        return "exploding"
    return "vanishing" if ratio < 1 / LIMIT else "steady"


def of_part(flows: Mapping[Variant, Flow], part: str) -> dict[Variant, Norms]:
    """One part's gradients by variant, of those that have it: the norms of an encoder without norms are not there."""
    return {variant: flow.gradients[part] for variant, flow in flows.items() if part in flow.gradients}


def first_and_last(part: str, n_layers: int) -> tuple[str, str]:
    """How the ends of a part's gradients are called."""
    return ("the embeddings", "the last block's output") if part == "stream" else ("layer 0", f"layer {n_layers - 1}")


def describe(flows: Mapping[Variant, Flow], part: str, n_layers: int) -> str:
    """The answer to whether the gradient reaches the first layer, in this run's numbers."""
    gradients = of_part(flows, part)
    first, last = first_and_last(part, n_layers)
    verdicts = {variant: judge(norms) for variant, norms in gradients.items()}
    sentences = []
    for verdict, (_, addition) in VERDICTS.items():
        names = [_named(variant, gradients[variant]) for variant in gradients if verdicts[variant] == verdict]
        if names:
            sentences.append(f"**{verdict.capitalize()}**{addition}: {'; '.join(names)}.")
    if part != "stream" and n_layers == 1:
        return f"One layer is first and last at once. With more layers, the gradient has a way. {' '.join(sentences)}"
    steady = sum(verdict == "steady" for verdict in verdicts.values())
    return (
        f"**The gradient reaches {first} in {steady or 'none'} of {len(gradients)} encoders.** *Reaching* means: from "
        f"{last} to {first}, it changes by a factor of at most {LIMIT:,}, either way. {' '.join(sentences)}"
    )


def by_layer(values: Mapping[Variant, Norms]) -> pd.DataFrame:
    """Numbers by variant as a table, a row a layer or a depth."""
    return pd.DataFrame({variant.name: numbers for variant, numbers in values.items()})


def chain_numbers(flow: Flow) -> str:
    r"""The way through all blocks in LaTeX: `0.97^{12} = 0.69`; where it leads out of all numbers, NaN."""
    ratio, n_layers = first_over_last(flow.gradients["stream"]), len(flow.gradients["stream"]) - 1
    factor = ratio ** (1 / n_layers)  # of each block, as a geometric mean
    if not np.isfinite(factor):
        return r"\mathrm{NaN}"
    return f"{number(factor, 3)}^{{{n_layers}}} = {number(ratio, 3)}"


def _named(variant: Variant, norms: Norms) -> str:
    ratio = first_over_last(norms)
    return f"*{variant.name}*" + (f" ({times(ratio)})" if np.isfinite(ratio) else "")


def times(ratio: float) -> str:
    """A ratio in running text: `× 1.2`, and with a power of ten as LaTeX."""
    text = number(ratio, 2)
    return f"$\\times\\,{text}$" if "^" in text else f"× {text}"
