"""The vectors in the residual stream: sizes and directions at the real tokens, and what norms make of them.

Legend: T real tokens, D = d_model, L layers. Padding never counts. A depth counts the blocks passed: 0 is the
embeddings, L the last block.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from playground.analysis.tex import Floats, factor, number
from playground.config import ModelConfig
from playground.errors import InputError
from playground.model import Trace
from playground.model.norms import build_norm
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run, residual_points


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
    left_out = {f"layers.{i}.norm1" for i in range(run.config.n_layers) if not run.config.has_norm1(i)}
    names = [name for name in names if name not in left_out]
    return [NormPoint(name, arrays[f"{name}.in"][real], arrays[f"{name}.out"][real]) for name in names]


def norm_names(config: ModelConfig) -> list[str]:
    """Names of a model's norms in the order of the computation, as those of `norm_points`."""
    behind = ["", "post_"] if config.norm_placement == "both" else [""]
    blocks = [
        f"layers.{layer}.{where}norm{number}"
        for layer in range(config.n_layers)
        for number in (1, 2)
        for where in behind
        if where or number == 2 or config.has_norm1(layer)
    ]
    return ["embed.norm"] * config.embedding_norm + blocks + ["final_norm"] * config.final_norm


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
    divisor: float
    """What the centred numbers are divided by."""
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
        divisor = float(np.sqrt(spread + eps))
    elif config.norm == "rms":
        spread = float((wide**2).sum() / wide.size)
        divisor = float(np.sqrt(spread + eps))
    elif config.norm == "scalar":
        spread = float(np.sqrt(((wide - mean) ** 2).sum() / (wide.size - 1)))
        divisor = spread + eps
    else:
        raise InputError("norm='none' hands its input on: there is nothing to normalise.")
    normalized, trace = (wide - mean) / divisor, Trace()
    build_norm(config, x.size)(torch.tensor(x), trace=trace)
    off = float(np.abs(normalized - trace["normalized"].numpy()).max())
    return ByHand(mean, spread, normalized.astype(np.float32), divisor, off)


def norm_scale(x: Floats, config: ModelConfig) -> Floats:
    """What the config's norm divides each vector by: (…, D) → (…, 1)."""
    scale: Floats
    if config.norm == "scalar":
        scale = x.std(axis=-1, ddof=1, keepdims=True) + config.norm_eps
    elif config.norm == "rms":
        scale = np.sqrt((x**2).mean(axis=-1, keepdims=True) + config.norm_eps)
    else:
        scale = np.sqrt(x.var(axis=-1, keepdims=True) + config.norm_eps)
    return scale


def normalized_lengths(x: Array, config: ModelConfig) -> Array:
    """Length of what the norm makes of each vector before gain and bias, in fp64: (…, D) → (…).

    The config has a norm.
    """
    wide = x.astype(np.float64)
    centred = wide if config.norm == "rms" else wide - wide.mean(axis=-1, keepdims=True)
    lengths: Array = np.linalg.norm(centred / norm_scale(wide, config), axis=-1)
    return lengths


def formula(config: ModelConfig) -> str:
    """The norm in LaTeX, before gain and bias; a line ends between two equations, not within one."""
    mean = r"\mu = \tfrac{1}{D}\sum_j x_j"
    equations = {
        "layer": (
            r"\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \epsilon}}",
            mean,
            r"\sigma^2 = \tfrac{1}{D}\sum_j {(x_j - \mu)^2}",
        ),
        "rms": (r"\hat{x}_i = \frac{x_i}{\sqrt{m + \epsilon}}", r"m = \tfrac{1}{D}\sum_j x_j^2"),
        "scalar": (
            r"\hat{x}_i = \frac{x_i - \mu}{s + \epsilon}",
            mean,
            r"s = \sqrt{\tfrac{1}{D-1}\sum_j (x_j - \mu)^2}",
        ),
        "none": (r"\hat{x}_i = x_i",),
    }
    return r",\quad\allowbreak ".join(f"{{{equation}}}" for equation in equations[config.norm])


def formula_with_numbers(x: Array, hand: ByHand, config: ModelConfig) -> str:
    """The formula in LaTeX for the vector's first number."""
    mean = "" if config.norm == "rms" else f" - {factor(hand.mean)}"
    divisor = f"{number(hand.spread)} + {number(config.norm_eps)}"
    if config.norm != "scalar":
        divisor = rf"\sqrt{{{divisor}}}"
    return rf"\hat{{x}}_0 = \frac{{{number(x[0])}{mean}}}{{{divisor}}} = {number(hand.normalized[0])}"


def l2(vectors: Array) -> Array:
    """Length of each token's vector, √Σ x²: (…, D) → (…); NaN where a number has left fp32's range.

    Squares are summed in fp64: in fp32 those of vectors far from 1 would vanish or overflow.
    """
    squares = np.einsum("...d,...d->...", vectors, vectors, dtype=np.float64)
    lengths: Array = np.sqrt(np.where(np.isfinite(squares), squares, np.nan)).astype(np.float32)
    return lengths


def lengths(run: Run) -> dict[str, Array]:
    """L2 norm of each token's vector: the `residual` stream's, (L + 1, T), and what `attention` and `feed-forward` add.

    Those two are (L, T), as the sublayers hand them out, before they are added and before any post-norm.
    """
    layers = range(run.config.n_layers)
    points = {
        "residual": residual_points(run.config),
        "attention": [f"layers.{i}.attn.out" for i in layers],
        "feed-forward": [f"layers.{i}.ffn.out" for i in layers],
    }
    real = ~run.padding
    return {part: np.stack([l2(run.arrays[name][real]) for name in names]) for part, names in points.items()}


def far_from_others(lengths: Array) -> NDArray[np.bool_]:
    """Which tokens are outliers at each depth: (depths, T) → (depths, T).

    An outlier lies beyond the tokens' middle half by more than 1.5 times its range (Tukey's rule), and differs from the
    median by more than a tenth of it.
    """
    low, median, high = np.percentile(lengths, [25, 50, 75], axis=1)[..., None]
    beyond = np.maximum(low - lengths, lengths - high)
    is_far: NDArray[np.bool_] = (beyond > 1.5 * (high - low)) & (np.abs(lengths - median) > 0.1 * median)
    return is_far


def length_band(lengths: Array) -> tuple[Array, Array]:
    """The smallest and the largest length at each depth without outliers: (depths, T) → (depths,) both."""
    kept = np.where(far_from_others(lengths), np.median(lengths, axis=1, keepdims=True), lengths)
    return kept.min(axis=1), kept.max(axis=1)


def summary(lengths: Mapping[str, Array]) -> pd.DataFrame:
    """Median over tokens of each part's lengths and the ends of its `length_band`, a row a depth."""
    columns = {}
    for part, values in lengths.items():
        depths = range(len(lengths["residual"]) - len(values), len(lengths["residual"]))
        low, high = length_band(values)
        for title, numbers in {"median": np.median(values, axis=1), "band from": low, "band to": high}.items():
            columns[f"{part}, {title}"] = pd.Series(numbers, index=depths)
    return pd.DataFrame(columns).rename_axis("blocks passed")


def residual_stream(run: Run) -> Array:
    """The vectors between the blocks: (L + 1, T, D), the embeddings first."""
    real = ~run.padding
    return np.stack([run.arrays[name][real] for name in residual_points(run.config)])


def cosine_between_tokens(vectors: Array) -> Array:
    """Cosine of the angle between each two tokens: (T, D) → (T, T); a zero vector is at 0 to everything."""
    unit = _unit(vectors)
    cosines: Array = unit @ unit.T
    return np.clip(cosines, -1, 1)


def cosine_between_layers(stream: Array) -> Array:
    """Cosine between one token's vectors at each two depths, averaged over tokens: (L + 1, T, D) → (L + 1, L + 1)."""
    unit = _unit(stream).reshape(len(stream), -1)
    cosines: Array = unit @ unit.T / stream.shape[1]
    return np.clip(cosines, -1, 1)


def mean_of_pairs(cosines: Array) -> float:
    """Mean over the pairs of two different things: (N, N) → a number; NaN where there is only one."""
    n = len(cosines)
    return float((cosines.sum() - np.trace(cosines)) / (n * (n - 1))) if n > 1 else math.nan


def _unit(vectors: Array) -> Array:
    """Each vector at length 1; zero stays zero, and what has left fp32's range is NaN."""
    lengths = l2(vectors)[..., None]
    finite = np.where(np.isfinite(vectors), vectors, np.float32(np.nan))
    return np.divide(finite, lengths, where=lengths != 0, out=np.zeros_like(vectors))
