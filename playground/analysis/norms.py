"""What each norm of a run is given and hands out, and one of them worked out by hand.

Legend: T real tokens, D = d_model; padding never counts.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from playground.analysis.tex import factor, number
from playground.config import ModelConfig
from playground.errors import InputError
from playground.model import Trace
from playground.model.norms import build_norm
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run


@dataclass(frozen=True)
class NormPoint:
    """One norm of a run by its name in the model, such as `layers.0.norm1`: its input and its output, (T, D) both."""

    name: str
    before: Array
    after: Array


def norm_points(run: Run) -> list[NormPoint]:
    """Every norm, in the order of the computation."""
    real, arrays = ~run.padding, run.arrays
    names = [name.removesuffix(".in") for name in arrays if re.search(r"norm\d?\.in$", name)]
    return [NormPoint(name, arrays[f"{name}.in"][real], arrays[f"{name}.out"][real]) for name in names]


def norm_statistics(points: list[NormPoint]) -> pd.DataFrame:
    """Mean and standard deviation over a token's features, before and after every norm, averaged over tokens."""
    with np.errstate(invalid="ignore"):  # what has overflowed is NaN, as everywhere
        rows = {
            point.name: {
                f"{statistic} {when}": float(np.mean(compute(vectors, axis=-1, dtype=np.float64)))
                for when, vectors in (("before", point.before), ("after", point.after))
                for statistic, compute in (("mean", np.mean), ("std", np.std))
            }
            for point in points
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("norm")


@dataclass(frozen=True)
class ByHand:
    """One token's norm, before gain and bias."""

    mean: float
    """Of the D numbers; 0 for `rms`, which subtracts none."""
    spread: float
    """What the formula calls σ², s or the mean square."""
    normalized: Array
    """(D,), the result."""
    off: float
    """The largest difference to what the model's norm computes."""


def normalise_by_hand(x: Array, config: ModelConfig) -> ByHand:
    """Normalise one token's vector (D,) as its formula says, in fp64, and compare with the model's norm in fp32.

    The formulas: `layer`, Ba et al. 2016; `rms`, Zhang & Sennrich 2019, equation 4; `scalar`, tutorial A.

    Raises:
        InputError: the config has no norm.
    """
    wide, eps = x.astype(np.float64), config.norm_eps
    mean = 0.0 if config.norm == "rms" else float(wide.mean())
    if config.norm == "layer":
        spread = float(((wide - mean) ** 2).sum() / wide.size)
        normalized = (wide - mean) / np.sqrt(spread + eps)
    elif config.norm == "rms":
        spread = float((wide**2).sum() / wide.size)
        normalized = wide / np.sqrt(spread + eps)
    elif config.norm == "scalar":
        spread = float(np.sqrt(((wide - mean) ** 2).sum() / (wide.size - 1)))
        normalized = (wide - mean) / (spread + eps)
    else:
        raise InputError("norm='none' hands its input on: there is nothing to normalise.")
    trace = Trace()
    build_norm(config)(torch.tensor(x), trace=trace)
    off = float(np.abs(normalized - trace["normalized"].numpy()).max())
    return ByHand(mean, spread, normalized.astype(np.float32), off)


def normalized_lengths(x: Array, config: ModelConfig) -> Array:
    """Length of what the norm makes of each vector before gain and bias, by the same formulas: (…, D) → (…), fp64.

    The config has a norm.
    """
    wide, eps, d_model = x.astype(np.float64), config.norm_eps, x.shape[-1]
    if config.norm == "scalar":
        deviation = wide.std(axis=-1, ddof=1)
        lengths: Array = math.sqrt(d_model - 1) * deviation / (deviation + eps)
    else:
        spread = np.square(wide).mean(axis=-1) if config.norm == "rms" else wide.var(axis=-1)
        lengths = np.sqrt(d_model * spread / (spread + eps))
    return lengths


def formula(config: ModelConfig) -> str:
    """The norm in LaTeX, before gain and bias."""
    return {
        "layer": r"\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \epsilon}},\quad "
        r"\mu = \tfrac{1}{D}\sum_j x_j,\quad \sigma^2 = \tfrac{1}{D}\sum_j (x_j - \mu)^2",
        "rms": r"\hat{x}_i = \frac{x_i}{\sqrt{m + \epsilon}},\quad m = \tfrac{1}{D}\sum_j x_j^2",
        "scalar": r"\hat{x}_i = \frac{x_i - \mu}{s + \epsilon},\quad "
        r"\mu = \tfrac{1}{D}\sum_j x_j,\quad s = \sqrt{\tfrac{1}{D-1}\sum_j (x_j - \mu)^2}",
        "none": r"\hat{x}_i = x_i",
    }[config.norm]


def formula_with_numbers(x: Array, hand: ByHand, config: ModelConfig) -> str:
    """The formula in LaTeX for the vector's first number."""
    mean = "" if config.norm == "rms" else f" - {factor(hand.mean)}"
    divisor = f"{number(hand.spread)} + {number(config.norm_eps)}"
    if config.norm != "scalar":
        divisor = rf"\sqrt{{{divisor}}}"
    return rf"\hat{{x}}_0 = \frac{{{number(x[0])}{mean}}}{{{divisor}}} = {number(hand.normalized[0])}"
