"""What six backward passes say: first layer over last, a verdict, a factor a block, and a sentence of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from playground.analysis.gradient_variants import Comparison, Variant
from playground.analysis.gradients import Flow, Norms
from playground.text.wording import superscript, upper_first, write_number

LIMIT = 1_000
"""A gradient that changes by more than this factor from the last layer to the first does not arrive.

One that arrives is huge where it is longer than this anywhere, and tiny where it is shorter than 1 / this at the first.
"""

HIGH_LOSS = 3
"""A loss of more than this many times an even guess's is explained: before training it starts near the guess's."""

LONG = 1.5
"""How many times as long as they should be rows or vectors are that make such a loss."""

ALIKE = 0.99
"""From this cosine between two tokens on, hardly anything of their difference is left."""

DIGITS = 3
"""Of each shown number, at least."""

Verdict = Literal[
    "arrives",
    "arrives, but huge",
    "arrives, but tiny",
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
    "arrives": ("green", ""),
    "arrives, but huge": ("orange", f", more than {LIMIT:,} long somewhere"),
    "arrives, but tiny": ("orange", f", less than 1/{LIMIT:,} long at the first"),
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


ARRIVED: tuple[Verdict, ...] = ("arrives", "arrives, but huge", "arrives, but tiny")
"""The verdicts on a gradient that reaches the first layer."""


def judge(norms: Norms) -> Verdict:
    """What becomes of a gradient from the last layer to the first; norms are in the order of the layers.

    The loss has no say: how high it is depends on the table that it is read out with.
    """
    if np.isnan(norms).any():
        return "not a number"
    if np.isinf(norms).any():
        return "infinite"
    if not norms.any():
        return "zero"
    ratio = first_over_last(norms)
    if ratio > LIMIT:
        return "exploding"
    if ratio < 1 / LIMIT:
        return "vanishing"
    if norms.max() > LIMIT:
        return "arrives, but huge"
    if norms[0] < 1 / LIMIT:
        return "arrives, but tiny"
    return "arrives"


def judge_all(comparison: Comparison, part: str) -> dict[Variant, Verdict]:
    """One part's verdicts at full depth by variant, of those that have it."""
    return {variant: judge(norms) for variant, norms in of_part(comparison.full_depth, part).items()}


def of_part(flows: Mapping[Variant, Flow], part: str) -> dict[Variant, Norms]:
    """One part's gradients by variant, of those that have it: the norms of an encoder without norms are not there."""
    return {variant: flow.gradients[part] for variant, flow in flows.items() if part in flow.gradients}


def first_and_last(part: str, n_layers: int) -> tuple[str, str]:
    """How the ends of a part's gradients are called."""
    return ("the embeddings", "the last layer's output") if part == "stream" else ("layer 0", f"layer {n_layers - 1}")


def describe(comparison: Comparison, part: str) -> str:
    """The question, its answer in this run's numbers, and the encoders where it does more than arrive, or less."""
    n_layers = comparison.config.n_layers
    first, _ = first_and_last(part, n_layers)
    gradients, verdicts = of_part(comparison.full_depth, part), judge_all(comparison, part)
    n_arrived = sum(verdict in ARRIVED for verdict in verdicts.values())
    sentences = [f"**Does the gradient reach {first}?** **{_share(n_arrived, len(verdicts))}**"]
    if part != "stream" and n_layers == 1:
        sentences.append("One layer is first and last at once. With more layers, the gradient has a way.")
    for verdict, (_, addition) in VERDICTS.items():
        if verdict == "arrives":
            continue
        names = [_name_with_ratio(variant, gradients[variant]) for variant in gradients if verdicts[variant] == verdict]
        if names:
            sentences.append(f"**{verdict.capitalize()}**{addition}: {'; '.join(names)}.")
    return " ".join(sentences)


def explain_reaching(part: str, n_layers: int) -> str:
    """When a gradient counts as having reached the first layer; nothing where it has no way to go."""
    if part != "stream" and n_layers == 1:
        return ""
    first, last = first_and_last(part, n_layers)
    return f"It *reaches* {first} if its length changes at most {LIMIT:,}-fold on the way from {last}."


def describe_pair(comparison: Comparison, pair: Sequence[Variant], part: str) -> str:
    """What becomes of the gradient in two of the encoders, or in one, each in one number (markdown)."""
    sentences = [_describe_way(comparison, variant, part) for variant in pair]
    if comparison.config.n_layers == 1 and part != "stream":
        sentences.append("One layer is first and last at once: with more layers, the gradient has a way.")
    return "  \n".join(sentences)


def _describe_way(comparison: Comparison, variant: Variant, part: str) -> str:
    norms, name = comparison.full_depth[variant].gradients.get(part), f"**{upper_first(variant.name)}**"
    if norms is None:
        return f"{name} has no {part}, and so no gradient of them."
    name += " (with residual connections)" * variant.residual
    first, last = first_and_last(part, comparison.config.n_layers)
    verdict = judge(norms)
    answer = f"{name}: **{ANSWERS[verdict]}**{VERDICTS[verdict][1]}."
    if verdict in ("zero", "infinite", "not a number"):
        return answer
    ratio = first_over_last(norms)
    if len(norms) == 1 or not ratio or np.isinf(ratio):
        return f"{answer} It is **{write_number(norms[0])}** long at {first}."
    return f"{answer} It is {_compare(ratio, first, last)}."


ANSWERS: dict[Verdict, str] = {
    "arrives": "it arrives",
    "arrives, but huge": "it arrives, but is huge",
    "arrives, but tiny": "it arrives, but is tiny",
    "vanishing": "it vanishes",
    "exploding": "it explodes",
    "zero": "it is zero",
    "infinite": "it is infinite",
    "not a number": "it is not a number",
}
"""What a verdict answers to whether the gradient reaches the first layer."""


def _compare(ratio: float, first: str, last: str) -> str:
    """A first length over the last in words: `**2.1 times as long** at layer 0 as at layer 11`."""
    is_shorter = ratio < 0.5
    fold = float(f"{1 / ratio if is_shorter else ratio:.2g}")
    if not is_shorter and 0.9 <= fold <= 1.1:
        return f"**about as long** at {first} as at {last}"
    shown = f"{fold:,g}" if fold < 1e6 else write_number(fold, 2)
    if is_shorter:
        return f"**{shown} times shorter** at {first} than at {last}"
    return f"**{shown} times as long** at {first} as at {last}"


def describe_losses(comparison: Comparison) -> str:
    """What an even guess costs, and why some of the six begin far above it: not for want of a gradient."""
    flows, d_model = comparison.full_depth, comparison.config.d_model
    guess = f"*Loss*: an even guess among {comparison.n_names:,} tokens costs {comparison.even_guess:.3g}."
    high = {name: flow for name, flow in flows.items() if not flow.loss <= HIGH_LOSS * comparison.even_guess}
    if not high:
        return guess
    sentences = [
        f"{guess} More than {HIGH_LOSS} times that: {_list_names(high)}. A token's score is the product of a row of "
        "the table and the last vector: where these are long, scores lie far apart, and the loss is high before any "
        "training. It says nothing of the gradient's way."
    ]
    if comparison.row_length > LONG:
        sentences.append(
            f"The rows are {comparison.row_length:.3g} long here, which makes every gradient longer from its start. "
            "With rows of length 1, vectors of length √d_model cost little more than an even guess."
        )
    long = {variant: flow for variant, flow in high.items() if not flow.read_length <= LONG * d_model**0.5}
    if long:
        lengths = "; ".join(f"*{variant.name}* {flow.read_length:.3g}" for variant, flow in long.items())
        norm = f"√{d_model} = {d_model**0.5:.3g}"
        sentences.append(f"Last vectors are longer here than {norm}, as a norm makes them: {lengths}.")
    unfinished = [variant for variant in long if variant.norm == "pre"]
    if unfinished:
        sentences.append(
            f"For want of a final norm alone: {_list_names(unfinished)}. `final_norm` in the sidebar adds one."
        )
    return " ".join(sentences)


def describe_likeness(comparison: Comparison) -> str:
    """How alike the tokens are behind the last block, with residual connections and without."""
    told = (
        "*Tokens alike*: the mean cosine between two tokens after the last block; at 1, all tokens point the same way. "
    )
    with_residual, without = (
        [
            flow.alike
            for variant, flow in comparison.full_depth.items()
            if variant.residual is residual and not np.isnan(flow.alike)
        ]
        for residual in (True, False)
    )
    if not with_residual or not without:
        return told
    told += (
        "A gradient that arrives is not everything: attention mixes the tokens, and a residual connection keeps what "
        f"was a token's own (Dong et al. 2021). With residual connections it is {_range(with_residual)} here, without "
        f"{_range(without)}."
    )
    return told + " Hardly a difference is left with them, either." * (min(with_residual) > ALIKE)


def _list_names(variants: Iterable[Variant]) -> str:
    return ", ".join(f"*{variant.name}*" for variant in variants)


def _range(numbers: Sequence[float]) -> str:
    low, high = f"{min(numbers):.4f}", f"{max(numbers):.4f}"
    return low if low == high else f"{low} to {high}"


def _share(count: int, total: int) -> str:
    if not count:
        return f"No, in none of {total} encoders."
    return f"Yes, in {'all' if count == total else f'{count} of'} {total} encoders."


def by_layer(values: Mapping[Variant, Norms]) -> pd.DataFrame:
    """Numbers by variant as a table, a row a layer or a depth."""
    return pd.DataFrame({variant.name: numbers for variant, numbers in values.items()})


def chain_numbers(flow: Flow) -> str:
    """The way through all blocks: `0.9696¹² = 0.69`; where it leads out of all numbers, NaN."""
    ratio, n_layers = first_over_last(flow.gradients["stream"]), len(flow.gradients["stream"]) - 1
    factor = ratio ** (1 / n_layers)  # of each block, as a geometric mean
    if not np.isfinite(factor):
        return "NaN"
    digits = count_digits(ratio, lambda factor: factor**n_layers, factor)
    base = write_number(factor, digits)
    return f"{f'({base})' if '×' in base else base}{superscript(n_layers)} = {write_number(ratio, DIGITS)}"


def ratio_numbers(norms: Norms) -> tuple[str, str, str]:
    """First over last, first, and last: the shown ends give the shown ratio."""
    ratio, ends = first_over_last(norms), (float(norms[0]), float(norms[-1]))
    digits = count_digits(ratio, lambda first, last: first / last, *ends) if np.isfinite(ratio) and ratio else DIGITS
    return write_number(ratio, DIGITS), write_number(ends[0], digits), write_number(ends[1], digits)


def count_digits(result: float, combine: Callable[..., float], *parts: float) -> int:
    """The fewest digits of the parts, `DIGITS` or more, with which a reader finds the first `DIGITS` of the result."""
    for digits in range(DIGITS, 17):
        rounded = [float(f"{part:.{digits}g}") for part in parts]
        if f"{combine(*rounded):.{DIGITS}g}" == f"{result:.{DIGITS}g}":
            return digits
    return 17  # a double as it is


def _name_with_ratio(variant: Variant, norms: Norms) -> str:
    ratio = first_over_last(norms)
    return f"*{variant.name}*" + (f" (factor {write_number(ratio, 2)})" if np.isfinite(ratio) else "")
