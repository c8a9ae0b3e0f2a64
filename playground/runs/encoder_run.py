"""One bounded pass: (encoder, batch, sentence) → `Run`, the arrays that every page draws from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.interventions import Intervention, InterventionTrace, point_of, rank
from playground.runs.arrays import Array, first_sentence, freeze
from playground.runs.budget import check_kept
from playground.runs.device import time_pass
from playground.runs.forward_pass import read_rows, run_rows
from playground.runs.intervention_input import Sources, intervention_trace
from playground.text import Batch

_LEFT_OUT = (".q", ".k", ".v", ".scores", ".z", ".up", ".hidden", ".normalized")
"""Intermediates that no page needs of every layer at once; the rest of the trace is kept."""


@dataclass(frozen=True)
class Run:
    """What the encoder did with one sentence of a batch. T counts the batch's padding too, H heads, D = d_model."""

    config: ModelConfig
    tokens: tuple[str, ...]
    """The sentence's pieces, and `[PAD]` up to T."""
    special: NDArray[np.bool_]
    """(T,): tokens that the tokenizer added, padding included."""
    padding: NDArray[np.bool_]
    """(T,)"""
    allowed: NDArray[np.bool_]
    """(T, T): which key each query may attend to."""
    arrays: Mapping[str, Array]
    """The trace without its sentence axis, by its names; read-only. See `Trace`."""
    device: str
    seconds: float
    """Of the forward pass alone."""
    interventions: tuple[Intervention, ...] = ()
    """What was changed on the way."""
    computed: Mapping[str, Array] = field(default_factory=dict)
    """What the model itself computed where that was changed, by the names of `arrays`, which hold what came of it."""

    def pattern(self, layer: int) -> Array:
        """One layer's attention: (H, T, T); padding's own rows are zero, nobody reads what padding attends to."""
        return self.arrays[f"layers.{layer}.attn.pattern"] * ~self.padding[:, None]

    def changes_at(self, name: str) -> tuple[Intervention, ...]:
        """What was changed at a point of the trace, in the order in which it was."""
        return tuple(sorted((each for each in self.interventions if point_of(each) == name), key=rank))

    def change(self, name: str) -> Array | None:
        """What changes added at a point that is kept, of its shape; None where nothing was changed."""
        return self.arrays[name] - self.computed[name] if name in self.computed else None

    def patterns(self) -> Array:
        """Every layer's attention, as `pattern` gives it: (n_layers, H, T, T)."""
        return np.stack([self.pattern(layer) for layer in range(self.config.n_layers)])


def on_every_page(name: str) -> bool:
    """Whether a point of the trace is among those that are kept of every layer."""
    return not name.endswith(_LEFT_OUT) and "dropout." not in name


def run(
    encoder: Encoder,
    batch: Batch,
    sentence: int = 0,
    *,
    seed: int = 0,
    causal: bool = False,
    keep: Callable[[str], bool] = on_every_page,
    interventions: Sequence[Intervention] = (),
    sources: Sources | None = None,
) -> Run:
    """Run one sentence of a batch through an encoder, padded as the batch is, in the encoder's mode, eval or train.

    `seed` is that of the words' vectors, where the encoder has no token table. `causal` hides later tokens. `keep` says
    which points of the trace to keep, by name. `interventions` change the computation; each array is what came of it.
    Patches among them take vectors from `sources`, and from untouched runs of the batch's sentences that are not there.

    Raises:
        InterventionError: an intervention cannot apply, alone or beside the others (see `intervention_subject`).
        TooLargeError: the attention patterns would be too many to keep.
        InputError: the sentence is longer than the config's max_len.
    """
    n_tokens = batch.mask.shape[1]
    check_kept(encoder.config, n_tokens)
    rows = read_rows(encoder, batch, [sentence], seed=seed, causal=causal)
    trace = intervention_trace(
        encoder, batch, sentence, [interventions], seed=seed, causal=causal, sources=sources, keep=keep
    )
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
