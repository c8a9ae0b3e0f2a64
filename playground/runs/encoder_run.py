"""Passes: rows through an encoder or some of its layers; one bounded pass of a sentence → `Run`; one layer in full.

B rows, each a sentence or a variant; T tokens, padding included; H heads; D = d_model.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InterventionError
from playground.model import Encoder, Trace, causal_and_padding
from playground.model.attention import maps_by_head
from playground.model.blocks import EncoderBlock
from playground.model.changes import Change, Subject
from playground.model.init import DROPOUT_POINTS, set_dropout
from playground.model.interventions import InterventionTrace, divide_changes
from playground.model.positions import window_mask
from playground.model.trace import UNTRACED
from playground.runs.arrays import Array, first_sentence, freeze, to_array
from playground.runs.budget import check_kept, time_pass
from playground.text import Batch
from playground.text.tokenizer import draw_vectors
from playground.text.wording import count_heads

EMBEDDINGS = -1
"""The start of a whole pass; layers count from 0."""


@dataclass(frozen=True)
class Rows:
    """What goes through an encoder together."""

    x: Tensor
    """Ids (B, T), raw vectors (B, T, width), or what layer `start` reads, (B, T, D)."""
    mask: Tensor
    """(B or 1, T or 1, T) bool, True = may attend."""
    start: int = EMBEDDINGS

    def at(self, layer: int, stream: Tensor) -> "Rows":
        """These rows from a layer on, which reads `stream`."""
        return replace(self, x=stream, start=layer)

    def repeat(self, n: int) -> "Rows":
        """A single row n times, in the same memory."""
        return replace(self, x=self.x.expand(n, *self.x.shape[1:]))


def read_rows(encoder: Encoder, batch: Batch, sentences: Sequence[int], *, seed: int = 0, causal: bool = False) -> Rows:
    """Return sentences of a batch as an encoder reads them; `causal` hides later tokens."""
    x = torch.stack([_read_sentence(encoder, batch, sentence, seed) for sentence in sentences])
    return Rows(x, read_mask(batch, sentences, causal=causal).to(x.device))


def read_mask(batch: Batch, sentences: Sequence[int], *, causal: bool) -> Tensor:
    """Return the mask of sentences of a batch."""
    keys = batch.mask[list(sentences)]  # (B, T)
    return causal_and_padding(keys) if causal else keys[:, None]


@torch.inference_mode()
def run_rows(encoder: Encoder, rows: Rows, trace: Trace = UNTRACED, *, end: int | None = None) -> Tensor:
    """Run rows without gradients → (B, T, D), what leaves the encoder, or enters layer `end`."""
    x = rows.x
    if rows.start == EMBEDDINGS:
        x = encoder.embed(x, trace.scope("embed")) if encoder.config.vocab_size else encoder.embed_vectors(x, trace)
    return encoder.encode(x, rows.mask, trace, first_layer=max(rows.start, 0), end_layer=end)


def _read_sentence(encoder: Encoder, batch: Batch, sentence: int, seed: int) -> Tensor:
    weights, width = next(encoder.parameters()), encoder.config.embedding_width
    ids, words = batch.ids[sentence], batch.tokens[sentence]
    if encoder.config.vocab_size:
        return ids.to(weights.device)
    padding = torch.zeros(len(ids) - len(words), width)
    return torch.cat([draw_vectors(words, width, seed), padding]).to(weights)


Sources = Mapping[int, Mapping[str, Array]]
"""By sentence, the arrays that patches take from."""


def intervention_subject(config: ModelConfig, batch: Batch, sentence: int = 0, *, causal: bool = False) -> Subject:
    """Return what interventions on one sentence's run are checked against."""
    n_tokens = batch.mask.shape[1]
    allowed = read_mask(batch, [sentence], causal=causal)[0].expand(n_tokens, n_tokens)
    return Subject(config, allowed, tuple(batch.mask.sum(dim=1).tolist()), sentence)


def intervention_trace(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    rows: Sequence[Sequence[Change]],
    *,
    seed: int,
    causal: bool,
    keep: Callable[[str], bool] | None,
    sources: Sources | None = None,
) -> Trace:
    """Return the trace of one pass over copies of a sentence, a row each; InterventionError if a row cannot be.

    Patches take from `sources`, else from untouched runs.
    """
    every = [each for interventions in rows for each in interventions if each.strength != 0]
    if not every and keep is not None:
        return Trace(keep)
    subject = intervention_subject(encoder.config, batch, sentence, causal=causal)
    for interventions in rows:
        _, refused = divide_changes(subject, tuple(interventions))
        for _, reason in refused:
            raise InterventionError(reason)
    device = next(encoder.parameters()).device
    moves = any(each.kind == "shuffle" for each in every)
    names: dict[int, set[str]] = {}
    for each in every:
        if each["sentence"] is not None:
            names.setdefault(each["sentence"], set()).add(each.point)
    return InterventionTrace(
        rows,
        batch.mask[sentence].expand(len(rows), -1).to(device),
        positions=encoder.embed.position_vectors(batch.mask.shape[1]) if moves else None,
        sources={
            number: {name: torch.tensor(sources[number][name], device=device) for name in wanted}
            if sources and number in sources
            else _run_source(encoder, batch, number, wanted, seed=seed, causal=causal)
            for number, wanted in names.items()
        },
        keep=keep,
    )


def _run_source(
    encoder: Encoder, batch: Batch, sentence: int, names: set[str], *, seed: int, causal: bool
) -> dict[str, Tensor]:
    trace = Trace(names.__contains__)
    run_rows(encoder, read_rows(encoder, batch, [sentence], seed=seed, causal=causal), trace)
    return {name: tensor[0] for name, tensor in trace.items()}


# --- the run of every page

_LEFT_OUT = (".q", ".k", ".v", "_projected", "_normed", ".scores", ".z", ".up", ".gate", ".hidden", ".normalized")
"""Points that no page needs of every layer."""


Hidden = Literal["", "padding query", "padding key", "causal", "window"]
"""What hides a key from a query."""


@dataclass(frozen=True, repr=False)
class Run:
    """What the encoder did with one sentence of a batch."""

    config: ModelConfig
    tokens: tuple[str, ...]
    """`[PAD]` up to T."""
    special: NDArray[np.bool_]
    """(T,): added by the tokenizer, or padding."""
    padding: NDArray[np.bool_]
    """(T,)"""
    allowed: NDArray[np.bool_]
    """(T, T), before windows."""
    arrays: Mapping[str, Array]
    """The trace without its sentence axis."""
    device: str
    seconds: float
    interventions: tuple[Change, ...] = ()
    computed: Mapping[str, Array] = field(default_factory=dict)
    """The original values at the changed points, under the same names."""

    def __repr__(self) -> str:
        return self.describe("Run of")

    def describe(self, subject: str) -> str:
        """Return two lines: a subject and its tokens; sizes and shapes."""
        config, text = self.config, " ".join(self.real_tokens)
        shown = (name for name in ("layers.0.attn.pattern", "final") if name in self.arrays)
        shapes = ", ".join(f"{name} {self.arrays[name].shape}" for name in shown)
        return (
            f"{subject} {self.n_real} tokens: {text if len(text) <= 80 else f'{text[:79]}…'}\n"
            f"{count_heads(config.n_layers, config.n_heads)}, d_model {config.d_model}; "
            f"{len(self.arrays)} points: {shapes}, …"
        )

    @property
    def n_real(self) -> int:
        """Tokens without padding, which comes last."""
        return int((~self.padding).sum())

    @property
    def real_tokens(self) -> list[str]:
        """The tokens without padding."""
        return list(self.tokens[: self.n_real])

    def pattern(self, layer: int) -> Array:
        """One layer's attention: (H, T, T); padding's rows are zero."""
        return self.arrays[f"layers.{layer}.attn.pattern"] * ~self.padding[:, None]

    def allowed_in(self, layer: int) -> NDArray[np.bool_]:
        """(T, T), in a layer."""
        window = self.config.window_of(layer)
        return self.allowed & window_mask(len(self.tokens), window)[0].numpy() if window else self.allowed

    def allowed_in_layers(self) -> NDArray[np.bool_]:
        """(L, T, T), as `allowed_in`."""
        return np.stack([self.allowed_in(layer) for layer in range(self.config.n_layers)])

    def why_hidden(self, layer: int, query: int, key: int) -> Hidden:
        """What hides a key from a query; empty if nothing does."""
        if self.padding[query]:
            return "padding query"
        if self.padding[key]:
            return "padding key"
        if not self.allowed[query, key]:
            return "causal"
        return "" if self.allowed_in(layer)[query, key] else "window"

    def changes_at(self, name: str) -> tuple[Change, ...]:
        """The changes at a point of the trace, in their order."""
        return tuple(sorted((each for each in self.interventions if each.point == name), key=lambda each: each.rank))

    def change(self, name: str) -> Array | None:
        """What changes added at a point, or None."""
        return self.arrays[name] - self.computed[name] if name in self.computed else None

    def patterns(self) -> Array:
        """Every layer's attention: (L, H, T, T)."""
        return np.stack([self.pattern(layer) for layer in range(self.config.n_layers)])


def residual_points(config: ModelConfig) -> list[str]:
    """Names of the stream before the first block and after each."""
    return ["embed.out", *(f"layers.{i}.out" for i in range(config.n_layers))]


def on_every_page(name: str) -> bool:
    """Whether a point of the trace is kept of every layer."""
    return not name.endswith(_LEFT_OUT) and "dropout." not in name


def run(
    encoder: Encoder,
    batch: Batch,
    sentence: int = 0,
    *,
    seed: int = 0,
    causal: bool = False,
    keep: Callable[[str], bool] = on_every_page,
    interventions: Sequence[Change] = (),
) -> Run:
    """Run one sentence of a batch through an encoder, padded as the batch is, in the encoder's mode.

    `seed` draws word vectors without a token table; `keep` chooses points of the trace.

    Raises:
        InterventionError: an intervention cannot apply.
        TooLargeError: the run would hold too many numbers.
        InputError: the sentence is over max_len.
    """
    n_tokens = batch.mask.shape[1]
    check_kept(encoder.config, n_tokens)
    rows = read_rows(encoder, batch, [sentence], seed=seed, causal=causal)
    trace = intervention_trace(encoder, batch, sentence, [interventions], seed=seed, causal=causal, keep=keep)
    _, seconds = time_pass(lambda: run_rows(encoder, rows, trace), rows.x.device)

    padding = ~batch.mask[sentence].numpy()
    n_padding = int(padding.sum())
    special = np.array([*batch.special[sentence], *[True] * n_padding])
    allowed = np.broadcast_to(rows.mask[0].cpu().numpy(), (n_tokens, n_tokens))
    freeze(padding, special)
    return Run(
        config=encoder.config,
        tokens=(*batch.tokens[sentence], *["[PAD]"] * n_padding),
        special=special,
        padding=padding,
        allowed=allowed,
        arrays=first_sentence(trace),
        device=rows.x.device.type,
        seconds=seconds,
        interventions=tuple(each for each in interventions if each.strength != 0),
        computed=first_sentence(trace.computed) if isinstance(trace, InterventionTrace) else {},
    )


@dataclass(frozen=True)
class LayerRun:
    """A pass, as one layer saw it."""

    run: Run
    """With all of the embeddings and this layer."""
    layer: int
    merged: Array
    """(T, D): the heads' results joined, before W_O."""
    learned: Mapping[str, Array]
    """By name: `embed.positions`, `embed.segments`; of norms all; of linear maps what the first number of an output
    takes: `q.weight` (H, D), `q.bias`, `k`, `v`, `o`, `up`, `gate`, `embed.project` (1, n), `down` (1, d_ff)."""

    def __getitem__(self, name: str) -> Array:
        """An array of this layer, such as `attn.q`."""
        return self.run.arrays[f"layers.{self.layer}.{name}"]

    def computed(self, name: str) -> Array:
        """The same before interventions."""
        return self.run.computed.get(f"layers.{self.layer}.{name}", self[name])


def trace_layer(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    layer: int,
    *,
    seed: int = 0,
    causal: bool = False,
    interventions: Sequence[Change] = (),
) -> LayerRun:
    """Run one sentence and keep all of one layer; as `run`."""
    options: dict[str, Any] = {"seed": seed, "causal": causal, "interventions": interventions}
    result = run(encoder, batch, sentence, keep=lambda name: is_of_layer(name, layer), **options)
    block: EncoderBlock = encoder.layers[layer]  # type: ignore[assignment]
    z = torch.tensor(result.arrays[f"layers.{layer}.attn.z"])
    merged = to_array(block.attn.merge(z[None])[0], copy=True)
    learned = _embedding_numbers(encoder, len(result.tokens)) | _block_numbers(block)
    return LayerRun(result, layer, merged, {name: to_array(tensor, copy=True) for name, tensor in learned.items()})


def is_of_layer(name: str, layer: int) -> bool:
    """Whether a point is the embeddings', this layer's, or the bias."""
    return name.startswith(("embed.", "position_bias", f"layers.{layer}."))


def _embedding_numbers(encoder: Encoder, n_tokens: int) -> dict[str, Tensor]:
    embed = encoder.embed
    numbers = {} if embed.norm is None else _norm_numbers("embed.norm", embed.norm)
    if encoder.config.has_position_table:
        numbers["embed.positions"] = embed.position_vectors(n_tokens)
    if embed.segments is not None:
        numbers["embed.segments"] = embed.segments.weight[0]
    if embed.project is not None:
        numbers["embed.project.weight"], numbers["embed.project.bias"] = _first_row(embed.project)
    return numbers


def _block_numbers(block: EncoderBlock) -> dict[str, Tensor]:
    attn = block.attn
    rows = {name: (weight[:, 0], bias[:, 0]) for name, (weight, bias) in maps_by_head(attn).items()}
    for name, linear in (("o", attn.o), ("up", block.ffn.up), ("gate", block.ffn.gate), ("down", block.ffn.down)):
        if linear is not None:
            rows[name] = _first_row(linear)
    norms = {"norm1": block.norm1, "norm2": block.norm2, "post_norm1": block.post_norm1, "post_norm2": block.post_norm2}
    norms |= {"q_norm": attn.q_norm, "k_norm": attn.k_norm}
    numbers: dict[str, Tensor] = {}
    for name, norm in norms.items():
        numbers |= {} if norm is None else _norm_numbers(name, norm)
    for name, (weight, bias) in rows.items():
        numbers |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return numbers


def _first_row(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    return linear.weight[:1], linear.weight.new_zeros(1) if linear.bias is None else linear.bias[:1]


def _norm_numbers(name: str, norm: nn.Module) -> dict[str, Tensor]:
    return {f"{name}.{part}": tensor for part, tensor in norm.named_parameters()}


DROPOUT_PLACES = {
    "after positions": "embed.dropout",
    "attention weights": "layers.{}.attn.weight_dropout",
    "after attention": "layers.{}.attn.dropout",
    "inside the feed-forward": "layers.{}.ffn.hidden_dropout",
    "after the feed-forward": "layers.{}.ffn.dropout",
}
"""Where this model drops, and the trace's name; `{}` is the layer."""


def run_with_dropout(
    encoder: Encoder, batch: Batch, sentence: int, layer: int, *, seed: int, causal: bool = False
) -> tuple[Run, dict[str, tuple[Array, Array]]]:
    """Run one sentence in train mode; return the run, and each place's input and output in one layer."""
    weights = (*encoder.parameters(), *encoder.buffers())
    private = copy.deepcopy(encoder, {id(tensor): tensor for tensor in weights})  # own modules, the same weights
    generator = torch.Generator(next(encoder.parameters()).device).manual_seed(seed)
    set_dropout(private, generators=dict.fromkeys(DROPOUT_POINTS, generator))
    result = run(private.train(), batch, sentence, seed=seed, causal=causal, keep=lambda name: is_of_layer(name, layer))
    names = {place: point.format(layer) for place, point in DROPOUT_PLACES.items()}
    arrays = result.arrays
    return result, {place: (arrays[f"{name}.in"], arrays[f"{name}.out"]) for place, name in names.items()}
