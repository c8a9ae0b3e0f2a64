"""The vectors that a layer's attention reads, or that leave the encoder, as a sum over what wrote them.

A norm subtracts a mean, which is linear, and divides by a scale, which is held at its value of this run. It is then
an affine map: what every source wrote is carried through it alone, its bias becomes a source of its own, and the sum
stays exact (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", "Handling Layer Normalization";
Kobayashi et al. 2021, "Incorporating Residual and Normalization Layers into Analysis of Masked Language Models").

Legend: S sources; T tokens, padding included; D = d_model; L layers; C classes. A depth counts the blocks passed: 0
is the embeddings, L the end.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import nn

from playground.analysis.streams import norm_scale
from playground.analysis.tex import Floats
from playground.model import Encoder
from playground.model.blocks import EncoderBlock
from playground.model.norms import NoNorm
from playground.runs.arrays import Array, freeze
from playground.runs.encoder_run import Run, residual_points

SourceKind = Literal["token", "position", "segment", "attention", "feed-forward", "change", "bias", "distance"]


@dataclass(frozen=True)
class Source:
    """Something that writes to a token's vector."""

    kind: SourceKind
    """`token`: its row of the token table, scaled where the config says so, or its raw vector. `attention` and
    `feed-forward`: what an earlier layer's sublayer added, its own bias and the norm behind it included. `change`: what
    the visitor's changes add to the stream itself; what they make of a layer's output is part of that output. `bias`:
    those of the norms, and of the map to d_model. `distance`: what a score gets by distance, which is in no vector."""
    layer: int | None = None
    """Of attention or feed-forward, from 0."""

    @property
    def name(self) -> str:
        """`token`, `layer 2 attention`, `biases`."""
        if self.kind in _NAMES:
            return _NAMES[self.kind]
        return self.kind if self.layer is None else f"layer {self.layer} {self.kind}"


_NAMES = {"bias": "biases", "change": "your changes", "distance": "distance"}

BIASES = Source("bias")
CHANGES = Source("change")
DISTANCE = Source("distance")
"""What a score gets by distance; it writes to no vector."""


@dataclass(frozen=True)
class StreamSplit:
    """What each source adds to the vectors that one layer's attention reads, or that leave the encoder."""

    layer: int
    """From 0; the number of layers: what leaves the encoder, behind its final norm where it has one."""
    sources: tuple[Source, ...]
    """In the order in which they write; the biases are the last."""
    parts: Array
    """(S, T, D), read-only."""
    written: Array
    """(S, T), read-only: length of what each source wrote, before any norm; NaN for biases, and for changes at several
    places: these have no one length."""
    off: float
    """The largest difference between their sum and the vectors of the run; NaN where those are not finite."""


@np.errstate(invalid="ignore", over="ignore")  # numbers beyond the range of floats end as NaN
def split_stream(run: Run, encoder: Encoder, layer: int) -> StreamSplit:
    """Split the vectors that a layer's attention reads, for every token of a run of this encoder in eval mode.

    With the number of layers instead of a layer, it splits the vectors that leave the encoder.
    """
    config, blocks = run.config, encoder.layers
    parts = _embedding_parts(run, encoder)
    written = {source: np.linalg.norm(part, axis=-1) for source, part in parts.items()}
    _add_changes(run, "embed.sum", parts, written)
    if encoder.embed.norm is not None:
        parts = _carry_through(run, "embed.norm", encoder.embed.norm, parts)
    if encoder.embed.project is not None:
        parts = _project(encoder.embed.project, parts)
    _add_changes(run, "embed.out", parts, written)
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
            written[source] = np.linalg.norm(parts[source], axis=-1)
            if source.kind == "attention":
                _add_changes(run, f"{name}.resid_mid", parts, written)
            if config.norm_placement == "post":
                parts = _carry_through(run, f"{name}.{norm_name}", norm, parts)
        _add_changes(run, f"{name}.out", parts, written)
    is_last = layer == config.n_layers
    if is_last and encoder.final_norm is not None:
        parts = _carry_through(run, "final_norm", encoder.final_norm, parts)
    elif not is_last and config.norm_placement != "post":
        parts = _carry_through(run, f"layers.{layer}.norm1", blocks[layer].norm1, parts)  # type: ignore[arg-type]
    parts[BIASES] = parts.pop(BIASES)  # to the end
    written[BIASES] = np.full(len(run.tokens), np.nan)
    read = run.arrays["final" if is_last else f"layers.{layer}.attn.in"]
    stacked = np.stack(list(parts.values())).astype(read.dtype)
    off = np.abs(stacked.sum(axis=0, dtype=np.float64) - read).max()
    lengths = np.stack([written[source] for source in parts]).astype(np.float32)
    freeze(stacked, lengths)
    return StreamSplit(layer, tuple(parts), stacked, lengths, float(off))


def _embedding_parts(run: Run, encoder: Encoder) -> dict[Source, Floats]:
    """What the embeddings are the sum of, each (T, D)."""
    tokens, embed = run.arrays["embed.tokens"], encoder.embed
    parts: dict[Source, Floats] = {BIASES: np.zeros(tokens.shape), Source("token"): _wide(tokens)}
    if run.config.has_position_table:
        parts[Source("position")] = _wide(embed.position_vectors(len(tokens)).detach().cpu().numpy())
    if embed.segments is not None:
        segment = _wide(embed.segments.weight[0].detach().cpu().numpy())
        parts[Source("segment")] = np.broadcast_to(segment, tokens.shape)
    return parts


def _project(linear: nn.Linear, parts: dict[Source, Floats]) -> dict[Source, Floats]:
    """Each part behind the map to d_model; the map's bias joins the biases."""
    weight = _wide(linear.weight.detach().cpu().numpy())
    projected: dict[Source, Floats] = {source: part @ weight.T for source, part in parts.items()}
    if linear.bias is not None:
        projected[BIASES] = projected[BIASES] + _wide(linear.bias.detach().cpu().numpy())
    return projected


def _add_changes(run: Run, point: str, parts: dict[Source, Floats], written: dict[Source, Floats]) -> None:
    """Add what was changed at a point of the stream itself to the parts, in place; nothing where nothing was."""
    change = run.change(point)
    if change is None:
        return
    length = np.linalg.norm(_wide(change), axis=-1)
    written[CHANGES] = np.full_like(length, np.nan) if CHANGES in parts else length
    parts[CHANGES] = parts.get(CHANGES, 0.0) + _wide(change)


def _carry_through(run: Run, name: str, norm: nn.Module, parts: dict[Source, Floats]) -> dict[Source, Floats]:
    """Each part behind a norm whose scale is that of this run; the norm's bias joins the biases."""
    if isinstance(norm, NoNorm):
        return parts
    learned = {part: _wide(tensor.detach().cpu().numpy()) for part, tensor in norm.named_parameters()}
    factors = learned["gain"] / norm_scale(_wide(run.arrays[f"{name}.in"]), run.config)  # (T, D)
    centred = run.config.norm != "rms"
    carried = {
        source: factors * (part - part.mean(axis=-1, keepdims=True) if centred else part)
        for source, part in parts.items()
    }
    carried[BIASES] = carried[BIASES] + learned.get("bias", 0.0)
    return carried


def _wide(array: Array) -> Floats:
    return array.astype(np.float64)


@dataclass(frozen=True)
class TokenStream:
    """What each source has written to one token, and what is left of it in the vector that leaves the encoder."""

    sources: tuple[Source, ...]
    written: Floats
    """(S,): lengths where it was written; NaN for biases."""
    shares: Floats
    """(S,): shares of the final vector x by projection, part · x / ‖x‖². They add up to 1; a part that points away from
    x has one below 0. NaN where x is 0 or not finite."""


@np.errstate(invalid="ignore", over="ignore", divide="ignore")
def follow_token(stream: StreamSplit, token: int) -> TokenStream:
    """One token of a stream that was split where it leaves the encoder."""
    parts = stream.parts[:, token].astype(np.float64)  # (S, D)
    final = parts.sum(axis=0)
    shares = parts @ final / (final @ final)
    return TokenStream(stream.sources, stream.written[:, token], shares)


def logit_lens(run: Run, token: int, encoder: Encoder, head: nn.Linear) -> Array:
    """An output head's probabilities for one token at every depth: (L + 1, C); the last row is the network's own.

    The vector between two blocks is handed to the head, behind the final norm where there is one, as if the blocks that
    follow were not there (nostalgebraist 2020, "interpreting GPT: the logit lens"). The head was trained on the last
    depth alone, so that early rows say what it would make of them, and not what they hold (Belrose et al. 2023,
    "Eliciting Latent Predictions from Transformers with the Tuned Lens").
    """
    depths = np.stack([run.arrays[name][token] for name in residual_points(run.config)])  # (L + 1, D)
    x = torch.from_numpy(depths).to(head.weight)
    with torch.inference_mode():
        if encoder.final_norm is not None:
            x = encoder.final_norm(x)
        probabilities: Array = head(x).softmax(dim=-1).cpu().numpy()
    return probabilities
