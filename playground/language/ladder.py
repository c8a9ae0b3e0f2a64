"""The ladder from the encoder of 2017 to one of today: its rungs, their papers, the specs to train."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from playground.config import ModelConfig
from playground.language.network import BASE, Spec
from playground.language.text import LONGEST

Fields = Mapping[str, Any]

START = "2017"


@dataclass(frozen=True)
class Rung:
    """One change of an encoder, and what its paper reports."""

    name: str
    year: int
    """Of the paper that `source` names."""
    change: Callable[[ModelConfig, int], Fields]
    """The fields to set, from the architecture and the longest sentence."""
    plain: str
    claim: str
    """What the paper measured."""
    source: str


def _set(**fields: Any) -> Callable[[ModelConfig, int], Fields]:
    return lambda *_: fields


RUNGS = (
    Rung(
        "GELU",
        2016,
        _set(activation="gelu"),
        "the activation is smooth: x · Φ(x) instead of max(0, x).",
        "A median error of 7.89% on CIFAR-10, 8.16% with ReLU. BERT made it usual.",
        "Hendrycks & Gimpel 2016",
    ),
    Rung(
        "learned positions",
        2017,
        _set(positions="learned"),
        "the position table is learned, no longer made of sines.",
        "Nearly the same: 25.7 BLEU with a learned table, 25.8 with sines. BERT made it usual.",
        "Vaswani et al. 2017, table 3, row E",
    ),
    Rung(
        "RMS norm",
        2019,
        _set(norm="rms"),
        "norms subtract no mean and add no bias.",
        "As good as layer norm, in 7% to 64% less time.",
        "Zhang & Sennrich 2019, abstract",
    ),
    Rung(
        "pre-norm",
        2020,
        _set(norm_placement="pre", final_norm=True),
        "norms stand before attention and feed-forward, and after the last layer.",
        "Without a warm-up of the learning rate, post-norm falls from about 34 BLEU to 8.45; pre-norm needs none.",
        "Xiong et al. 2020",
    ),
    Rung(
        "gated feed-forward",
        2020,
        lambda config, _: {"gated": True, "d_ff": 32 * round(config.d_ff * 2 / 3 / 32)},
        "a third linear map multiplies the activation's output; the hidden width shrinks.",
        "Log-perplexity 1.633 with GEGLU, 1.679 with GELU, after 524,288 steps.",
        "Shazeer 2020, table 1",
    ),
    Rung(
        "local windows",
        2020,
        lambda _, longest: {"window": longest // 4, "global_every": 2},
        "every second layer attends within a quarter of the longest sentence.",
        "75.0 on WikiHop, where RoBERTa, which reads 512 tokens at once, has 72.4.",
        "Beltagy et al. 2020",
    ),
    Rung(
        "norm on queries and keys",
        2020,
        _set(qk_norm=True),
        "queries and keys are normed before they are compared.",
        "0.928 BLEU more on average, over five pairs of languages with little text.",
        "Henry et al. 2020, abstract",
    ),
    Rung(
        "rotary positions",
        2021,
        _set(positions="rotary"),
        "queries and keys are rotated by their position; no table.",
        "27.5 BLEU from English to German, 27.3 with sines.",
        "Su et al. 2021, table 1",
    ),
    Rung(
        "no biases",
        2022,
        _set(bias=False),
        "linear maps and norms add no learned vector.",
        "Large models train with fewer accidents; no number is given.",
        "Chowdhery et al. 2022, section 2",
    ),
    Rung(
        "grouped queries",
        2023,
        lambda config, _: {"n_kv_heads": config.n_heads // 2},
        "two heads of queries share keys and values.",
        "An average score of 47.1 instead of 47.2, in 0.28 s instead of 1.51 s: eight groups for 64 heads.",
        "Ainslie et al. 2023, table 1",
    ),
)
"""By year; each keeps earlier changes."""


def climb(start: ModelConfig, longest: int) -> tuple[ModelConfig, ...]:
    """Return `start` and the encoder of each rung; a local window is a quarter of the `longest` sentence."""
    configs = [start]
    for rung in RUNGS:
        configs.append(replace(configs[-1], **rung.change(configs[-1], longest)))
    return tuple(configs)


def ladder_specs() -> dict[str, Spec]:
    """Return the small English's base with the settings of 2017, and each rung's, by name."""
    start = replace(BASE, positions="sinusoidal", norm_placement="post", final_norm=False, activation="relu")
    return dict(zip((START, *(rung.name for rung in RUNGS)), map(Spec, climb(start, LONGEST)), strict=True))
