"""The residual stream: lengths, directions, norms, and what wrote it.

With its scale held, a norm is an affine map: sources are carried through it one by one (Kobayashi et al. 2021).

Legend: T real tokens, D = d_model, L layers, C classes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model import Encoder, Trace
from playground.model.blocks import EncoderBlock
from playground.model.norms import NoNorm, build_norm
from playground.runs.arrays import Array, Floats, freeze
from playground.runs.encoder_run import Run, residual_points
from playground.text.wording import factor, number

# --- lengths and directions


def l2(vectors: Array) -> Array:
    """Return √Σ x², summed in fp64: (…, D) → (…); NaN beyond fp32's range."""
    squares = np.einsum("...d,...d->...", vectors, vectors, dtype=np.float64)
    lengths: Array = np.sqrt(np.where(np.isfinite(squares), squares, np.nan)).astype(np.float32)
    return lengths


def lengths(run: Run) -> dict[str, Array]:
    """Return tokens' L2 norms: `residual`, (L + 1, T); `attention` and `feed-forward`, (L, T), before any post-norm."""
    layers = range(run.config.n_layers)
    points = {
        "residual": residual_points(run.config),
        "attention": [f"layers.{i}.attn.out" for i in layers],
        "feed-forward": [f"layers.{i}.ffn.out" for i in layers],
    }
    real = ~run.padding
    return {part: np.stack([l2(run.arrays[name][real]) for name in names]) for part, names in points.items()}


def length_band(lengths: Array) -> tuple[Array, Array]:
    """Return the ends without outliers by Tukey's rule: (depths, T) → (depths,) twice."""
    low, median, high = np.percentile(lengths, [25, 50, 75], axis=1)[..., None]
    beyond = np.maximum(low - lengths, lengths - high)
    is_far = (beyond > 1.5 * (high - low)) & (np.abs(lengths - median) > 0.1 * median)
    kept = np.where(is_far, np.median(lengths, axis=1, keepdims=True), lengths)
    return kept.min(axis=1), kept.max(axis=1)


def residual_stream(run: Run) -> Array:
    """Return the vectors between the blocks: (L + 1, T, D)."""
    real = ~run.padding
    return np.stack([run.arrays[name][real] for name in residual_points(run.config)])


def cosine_between_tokens(vectors: Array) -> Array:
    """Return cosines: (T, D) → (T, T); 0 to zeros."""
    unit = unit_vectors(vectors)
    cosines: Array = unit @ unit.T
    return np.clip(cosines, -1, 1)


def unit_vectors(vectors: Array) -> Array:
    """Return vectors (…, D) at length 1; zeros stay."""
    lengths = l2(vectors)[..., None]
    finite = np.where(np.isfinite(vectors), vectors, np.float32(np.nan))
    return np.divide(finite, lengths, where=lengths != 0, out=np.zeros_like(vectors))


# --- norms

NormPoints: TypeAlias = Mapping[str, tuple[Array, Array]]
"""By name: input and output, (T, D)."""


def norm_points(run: Run) -> NormPoints:
    """Return the input and output of every norm, in the order of the computation."""
    real, arrays = ~run.padding, run.arrays
    names = [name.removesuffix(".in") for name in arrays if re.search(r"norm\d?\.in$", name)]
    absent = {f"layers.{i}.norm1" for i in range(run.config.n_layers) if not run.config.has_norm1(i)}
    return {name: (arrays[f"{name}.in"][real], arrays[f"{name}.out"][real]) for name in names if name not in absent}


def norm_statistics(points: NormPoints) -> dict[str, dict[str, float]]:
    """Return mean and standard deviation of features before and after every norm, by its name."""
    with np.errstate(invalid="ignore"):  # what has overflowed is NaN, as everywhere
        return {
            name: {
                f"{statistic} {when}": float(np.mean(compute(vectors, axis=-1, dtype=np.float64)))
                for when, vectors in zip(("before", "after"), ends, strict=True)
                for statistic, compute in (("mean", np.mean), ("std", np.std))
            }
            for name, ends in points.items()
        }


def _norm_spread(x: Floats, config: ModelConfig) -> Floats:
    """σ², s or mean square: (…, D) → (…, 1)."""
    if config.norm == "scalar":
        return x.std(axis=-1, ddof=1, keepdims=True)  # type: ignore[no-any-return]
    return (x**2).mean(axis=-1, keepdims=True) if config.norm == "rms" else x.var(axis=-1, keepdims=True)  # type: ignore[no-any-return]


def norm_scale(x: Floats, config: ModelConfig) -> Floats:
    """Return what the config's norm divides each vector by: (…, D) → (…, 1)."""
    spread = _norm_spread(x, config) + config.norm_eps
    return spread if config.norm == "scalar" else np.sqrt(spread)


def _centre(x: Floats, config: ModelConfig) -> Floats:
    return x if config.norm == "rms" else x - x.mean(axis=-1, keepdims=True)


def normalise_by_hand(x: Array, config: ModelConfig) -> tuple[Array, float]:
    """Normalise a vector (D,) in fp64, before gain and bias; also return how far the model's norm is off.

    Ba et al. 2016; Zhang & Sennrich 2019, equation 4 (`rms`); tutorial A (`scalar`).

    Raises:
        InputError: the config has no norm.
    """
    if config.norm == "none":
        raise InputError("norm='none' hands its input on: there is nothing to normalise.")
    wide, trace = x.astype(np.float64), Trace()
    normalized = _centre(wide, config) / norm_scale(wide, config)
    build_norm(config, x.size)(torch.tensor(x), trace=trace)
    return normalized.astype(np.float32), float(np.abs(normalized - trace["normalized"].numpy()).max())


def normalized_lengths(x: Array, config: ModelConfig) -> Array:
    """Return lengths behind a norm, before gain and bias: (…, D) → (…)."""
    wide = x.astype(np.float64)
    lengths: Array = np.linalg.norm(_centre(wide, config) / norm_scale(wide, config), axis=-1)
    return lengths


def formula(config: ModelConfig) -> str:
    """Write the norm in LaTeX, before gain and bias."""
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


def formula_with_numbers(x: Array, config: ModelConfig) -> str:
    """Write the formula in LaTeX for the first number of a vector (D,)."""
    wide = x.astype(np.float64)
    mean = "" if config.norm == "rms" else f" - {factor(wide.mean())}"
    divisor = f"{number(_norm_spread(wide, config)[0])} + {number(config.norm_eps)}"
    if config.norm != "scalar":
        divisor = rf"\sqrt{{{divisor}}}"
    return rf"\hat{{x}}_0 = \frac{{{number(x[0])}{mean}}}{{{divisor}}} = {number(normalise_by_hand(x, config)[0][0])}"


# --- sources

SourceKind = Literal["token", "position", "segment", "attention", "feed-forward", "change", "bias", "distance"]


@dataclass(frozen=True)
class Source:
    """Something that writes to a token's vector."""

    kind: SourceKind
    """`bias`: of norms and the map to d_model; `distance`: of a score, in no vector."""
    layer: int | None = None

    @property
    def name(self) -> str:
        """`token`, `layer 2 attention`, `biases`."""
        name = {"bias": "biases", "change": "your changes"}.get(self.kind, self.kind)
        return name if self.layer is None else f"layer {self.layer} {name}"


BIASES, CHANGES, DISTANCE = Source("bias"), Source("change"), Source("distance")

Parts: TypeAlias = dict[Source, Floats]


@np.errstate(invalid="ignore", over="ignore")  # numbers beyond the range of floats end as NaN
def split_stream(run: Run, encoder: Encoder, layer: int) -> Parts:
    """Return what each source adds to the vectors that a layer's attention reads: (T, D), T with padding, read-only."""
    config, blocks = run.config, encoder.layers
    parts = _embedding_parts(run, encoder)
    _add_change(run, "embed.sum", parts)
    if encoder.embed.norm is not None:
        parts = _carry_through(run, "embed.norm", encoder.embed.norm, parts)
    if encoder.embed.project is not None:
        parts = _project(encoder.embed.project, parts)
    _add_change(run, "embed.out", parts)
    for i in range(layer):
        block: EncoderBlock = blocks[i]  # type: ignore[assignment]
        name = f"layers.{i}"
        for source, sublayer, norm_name, norm in (
            (Source("attention", i), "attn", "norm1", block.norm1),
            (Source("feed-forward", i), "ffn", "norm2", block.norm2),
        ):
            if not config.residual:  # what came before goes no further, but through the sublayer
                parts = {BIASES: np.zeros((len(run.tokens), config.d_model))}
            sandwich = f"{name}.post_{norm_name}.out"
            parts[source] = _wide(run.arrays.get(sandwich, run.arrays[f"{name}.{sublayer}.out"]))
            if source.kind == "attention":
                _add_change(run, f"{name}.resid_mid", parts)
            if config.norm_placement == "post":
                parts = _carry_through(run, f"{name}.{norm_name}", norm, parts)
        _add_change(run, f"{name}.out", parts)
    if config.norm_placement != "post":
        parts = _carry_through(run, f"layers.{layer}.norm1", blocks[layer].norm1, parts)  # type: ignore[arg-type]
    parts[BIASES] = parts.pop(BIASES)  # to the end
    read = run.arrays[f"layers.{layer}.attn.in"].dtype
    parts = {source: part.astype(read) for source, part in parts.items()}
    freeze(*parts.values())
    return parts


def _embedding_parts(run: Run, encoder: Encoder) -> Parts:
    tokens, embed = run.arrays["embed.tokens"], encoder.embed
    parts: Parts = {BIASES: np.zeros(tokens.shape), Source("token"): _wide(tokens)}
    if run.config.has_position_table:
        parts[Source("position")] = _wide(embed.position_vectors(len(tokens)))
    if embed.segments is not None:
        parts[Source("segment")] = np.broadcast_to(_wide(embed.segments.weight[0]), tokens.shape)
    return parts


def _project(linear: nn.Linear, parts: Parts) -> Parts:
    projected: Parts = {source: part @ _wide(linear.weight).T for source, part in parts.items()}
    if linear.bias is not None:
        projected[BIASES] = projected[BIASES] + _wide(linear.bias)
    return projected


def _add_change(run: Run, point: str, parts: Parts) -> None:
    change = run.change(point)
    if change is not None:
        parts[CHANGES] = parts.get(CHANGES, 0.0) + _wide(change)


def _carry_through(run: Run, name: str, norm: nn.Module, parts: Parts) -> Parts:
    if isinstance(norm, NoNorm):
        return parts
    learned = {part: _wide(tensor) for part, tensor in norm.named_parameters()}
    factors = learned["gain"] / norm_scale(_wide(run.arrays[f"{name}.in"]), run.config)  # (T, D)
    carried: Parts = {source: factors * _centre(part, run.config) for source, part in parts.items()}
    carried[BIASES] = carried[BIASES] + learned.get("bias", 0.0)
    return carried


def _wide(numbers: Array | torch.Tensor) -> Floats:
    array = numbers.detach().cpu().numpy() if isinstance(numbers, torch.Tensor) else numbers
    return array.astype(np.float64)


def logit_lens(run: Run, token: int, encoder: Encoder, head: nn.Linear) -> Array:
    """Return an output head's probabilities at every depth: (L + 1, C). nostalgebraist 2020, "the logit lens"."""
    depths = np.stack([run.arrays[name][token] for name in residual_points(run.config)])  # (L + 1, D)
    x = torch.from_numpy(depths).to(head.weight)
    with torch.inference_mode():
        if encoder.final_norm is not None:
            x = encoder.final_norm(x)
        probabilities: Array = head(x).softmax(dim=-1).cpu().numpy()
    return probabilities
