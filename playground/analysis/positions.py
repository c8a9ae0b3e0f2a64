"""The position table, what it adds to a sentence, and what happens when two words change places.

Legend: N positions, T real tokens, D = d_model.
"""

import copy
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from playground.analysis.streams import l2
from playground.config import Positions
from playground.errors import InputError
from playground.model import Encoder
from playground.model.encoder import layer_masks
from playground.model.positions import alibi_slopes, distance_buckets, frequencies, sinusoids
from playground.runs.arrays import Array, to_array
from playground.runs.encoder_run import read_rows, run_rows
from playground.text import Batch
from playground.text.wording import number

SWAP_ROUNDING = 1e-6
"""Share of the differences between words, in float64."""

ALIKE = 1e-12


def first_rows(encoder: Encoder, n: int) -> Array:
    """Return the table's first rows, or sinusoids: (min(n, max_len), D), read-only."""
    config = encoder.config
    table = encoder.embed.position_table()
    if table is None:
        table = sinusoids(min(n, config.max_len), config.table_width)
    return to_array(table[:n, -config.table_width :], copy=True)


def distances(rows: Array) -> Array:
    """Return distances of rows: (N, D) → (N, N)."""
    wide = torch.tensor(rows)
    apart: Array = torch.cdist(wide, wide, compute_mode="donot_use_mm_for_euclid_dist").numpy()
    return apart


def addition(tokens: Array, rows: Array) -> tuple[Array, Array]:
    """Return length of row over embedding, and cosine of embedding and sum: (T,); zeros fill what is concatenated."""
    rows = np.pad(rows, ((0, 0), (tokens.shape[1] - rows.shape[1], 0)))
    total, lengths = tokens + rows, l2(tokens)
    with np.errstate(divide="ignore", invalid="ignore"):  # a vector of zeros has no direction
        return l2(rows) / lengths, (tokens.astype(np.float64) * total).sum(axis=1) / (lengths * l2(total))


@dataclass(frozen=True)
class Swap:
    """How far each word's output moves when two words change places."""

    placed: Array
    """(T,): each word's largest |difference|, with positions."""
    bare: Array
    size: float
    """The largest |output| without positions."""
    placed_size: float
    spread: float
    """The largest |difference| between two words' outputs, without positions."""
    unchanged: bool = False
    """Whether both words are the same to the encoder."""

    @property
    def rounding(self) -> float:
        """Changes up to here are rounding errors."""
        return max(SWAP_ROUNDING * self.spread, ALIKE * self.size)


def swap_words(
    encoder: Encoder, batch: Batch, sentence: int, first: int, second: int, *, seed: int = 0, causal: bool = False
) -> Swap:
    """Run a sentence as it is and with two tokens swapped, with positions and without, in float64.

    Raises:
        InputError: a position has no token, or the sentence is longer than the position table.
    """
    n_tokens = int(batch.mask[sentence].sum())
    if not (0 <= first < n_tokens and 0 <= second < n_tokens):
        raise InputError(f"A sentence of {n_tokens} tokens has none at position {max(first, second)}.")
    places = torch.arange(batch.ids.shape[1])
    swapped = places.clone()
    swapped[[first, second]] = swapped[[second, first]]
    rows = read_rows(encoder, batch, [sentence], seed=seed, causal=causal)
    x = rows.x[0][torch.stack([places, swapped])]  # (2, T) or (2, T, D)
    unchanged = bool(torch.equal(x[0], x[1]))
    x = x[:1] if unchanged else x  # two equal rows of a batch may come out with other last bits

    none = encoder.config.positions == "none"
    models = with_positions(encoder, "sinusoidal") if none else encoder, with_positions(encoder, "none")
    with torch.inference_mode():
        embedded = [run_rows(model, replace(rows, x=x), end=0) for model in models]
        outputs = [
            _encode_in_float64(model, x, rows.mask[:, None]).cpu() for model, x in zip(models, embedded, strict=True)
        ]
    order = places if unchanged else swapped
    moved = [(each[0] - each[-1][order]).abs()[:n_tokens] for each in outputs]
    placed, bare = (differences.amax(dim=-1).numpy() for differences in moved)
    located, words = (each[0, :n_tokens] for each in outputs)
    spread = float((words.amax(dim=0) - words.amin(dim=0)).max())
    return Swap(placed, bare, float(words.abs().max()), float(located.abs().max()), spread, unchanged)


def _encode_in_float64(encoder: Encoder, embedded: Tensor, allowed: Tensor) -> Tensor:
    x = embedded.double()
    relative = None if encoder.relative is None else copy.deepcopy(encoder.relative).double()
    masks = layer_masks(encoder.config, relative, allowed, x)
    for layer, mask in zip(encoder.layers, masks, strict=True):
        x = copy.deepcopy(layer).double()(x, mask)  # one at a time: the whole encoder would take twice its memory again
    return x if encoder.final_norm is None else copy.deepcopy(encoder.final_norm).double()(x)


def by_distance(encoder: Encoder, n: int) -> Array:
    """Return rotary cos(distance · θ), or biases, by distance 1 − n … n − 1: (curves, 2 n − 1)."""
    config, distances = encoder.config, torch.arange(1 - n, n)
    curves = torch.zeros(0, 2 * n - 1)
    if config.positions == "rotary":
        curves = torch.cos(frequencies(config.qk_width, base=config.rotary_base)[:, None] * distances)
    elif config.positions == "alibi":
        curves = -alibi_slopes(config.n_heads)[:, None] * distances.abs()
    elif encoder.relative is not None:
        buckets = distance_buckets(distances, config.relative_buckets, config.relative_distance)
        curves = encoder.relative.weight.detach().cpu()[buckets].T
    return to_array(curves.float(), copy=True)


def with_positions(encoder: Encoder, positions: Positions) -> Encoder:
    """Return an encoder with the same weights and a fixed position table, or none."""
    other = Encoder(replace(encoder.config, positions=positions), seed=None)
    wanted = other.state_dict()
    weights = {name: tensor for name, tensor in encoder.state_dict().items() if name in wanted}
    other.load_state_dict(weights, assign=True)
    return other.to(next(encoder.parameters()))


def formula(positions: Positions) -> str:
    """Write the table in LaTeX: Vaswani et al. 2017, section 3.5; tutorial B for the doubled exponent."""
    if positions == "learned":
        return r"P_t = \text{row } t \text{ of a table of parameters}"
    exponent = r"2 \cdot 2i/D" if positions == "sinusoidal-doubled" else "2i/D"
    angle = rf"\frac{{t}}{{10000^{{{exponent}}}}}"
    rows = rf"P_{{t,\,2i}} &= \sin{angle} \\[1ex] P_{{t,\,2i+1}} &= \cos{angle}"  # two, as a phone breaks a long one
    return rf"\begin{{aligned}} {rows} \end{{aligned}}"


def formula_with_numbers(positions: Positions, rows: Array, position: int, dimension: int) -> str:
    """Write one entry of the table (N, D) in LaTeX, with its value."""
    entry, value = rf"P_{{{position},\,{dimension}}}", number(rows[position, dimension])
    if positions == "learned":
        return f"{entry} = {value}"
    doubled = positions == "sinusoidal-doubled"
    d_model, pair = rows.shape[1], dimension // 2
    exponent = (r"2 \cdot " if doubled else "") + f"{2 * pair}/{d_model}"
    angle = position * float(frequencies(d_model, doubled=doubled)[pair])
    function = r"\cos" if dimension % 2 else r"\sin"
    return rf"{entry} = {function}\frac{{{position}}}{{10000^{{{exponent}}}}} = {function}({number(angle)}) = {value}"
