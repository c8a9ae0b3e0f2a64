"""One sentence in many variants, each with interventions of its own, in a few passes over batches of them.

Nothing changes before a variant's first intervention, so its row starts at that layer, from what one untouched pass had
there. Legend: N variants of a batch, T tokens, padding included, H heads, D = d_model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.model import Encoder, Trace
from playground.model.interventions import Intervention, first_layer
from playground.runs.arrays import Array, to_array
from playground.runs.budget import check_kept
from playground.runs.encoder_run import Run
from playground.runs.forward_pass import EMBEDDINGS, Rows, read_rows, run_rows
from playground.runs.interruption import check_interrupted
from playground.runs.intervention_input import Sources, intervention_trace
from playground.text import Batch

MAX_AT_ONCE = 8_000_000
"""Numbers that the rows of one pass may hold in a layer at a time: 32 MB in fp32."""

Variant = Sequence[Intervention]


@dataclass(frozen=True)
class VariantBatch:
    """What left the encoder in some of the variants."""

    numbers: tuple[int, ...]
    """Which variants, as they were counted in what was asked for, from 0."""
    final: Array
    """(N, T, D)"""


def rows_at_once(config: ModelConfig, n_tokens: int) -> int:
    """How many variants of a sentence go through a layer together: as many as the budget allows, one at least."""
    row = n_tokens * (2 * config.d_ff + 8 * config.d_model) + 3 * config.n_heads * n_tokens**2
    return max(1, MAX_AT_ONCE // row)


def run_variants(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    variants: Sequence[Variant],
    *,
    seed: int = 0,
    causal: bool = False,
    sources: Sources | None = None,
    untouched: Run | None = None,
) -> Iterator[VariantBatch]:
    """Run every variant of a sentence, a batch of them a step, those that change the earliest layer first.

    `seed`, `causal` and `sources` are as in `encoder_run.run`. `untouched` is the sentence's run that nothing changes,
    where it is at hand: its vectors are where variants begin. Nothing runs before the first step is asked for.

    Raises:
        TooLargeError: not even one variant fits the memory budget.
        InterventionError: an intervention cannot apply beside the others of its variant.
        InputError: the sentence is longer than the config's max_len.
    """
    config, n_tokens = encoder.config, batch.ids.shape[1]
    check_kept(config, n_tokens)
    row = read_rows(encoder, batch, [sentence], seed=seed, causal=causal)
    streams = _untouched_streams(encoder, row) if untouched is None else read_streams(untouched, encoder)
    starts = [min((first_layer(each) for each in variant), default=config.n_layers) for variant in variants]
    at_once = rows_at_once(config, n_tokens)
    for start in sorted(set(starts)):
        numbers = [number for number, each in enumerate(starts) if each == start]
        for first in range(0, len(numbers), at_once):
            check_interrupted()
            chosen = tuple(numbers[first : first + at_once])
            changes = [variants[number] for number in chosen]
            trace = intervention_trace(
                encoder, batch, sentence, changes, seed=seed, causal=causal, sources=sources, keep=None
            )
            begin = row if start == EMBEDDINGS else row.at(start, streams[start])
            yield VariantBatch(chosen, to_array(run_rows(encoder, begin.repeat(len(chosen)), trace)))


def read_streams(untouched: Run, encoder: Encoder) -> list[Tensor]:
    """What every block reads in a run that is at hand, (1, T, D) each, and after them what leaves the last."""
    weights = next(encoder.parameters())
    return [torch.tensor(untouched.arrays[point])[None].to(weights) for point in _stream_points(encoder)]


def _stream_points(encoder: Encoder) -> list[str]:
    return ["embed.out", *(f"layers.{i}.out" for i in range(encoder.config.n_layers))]


def _untouched_streams(encoder: Encoder, row: Rows) -> list[Tensor]:
    """What every block reads in a pass that nothing changes, (1, T, D) each, and after them what leaves the last."""
    points = _stream_points(encoder)
    trace = Trace(frozenset(points).__contains__)
    run_rows(encoder, row, trace)
    return [trace[point] for point in points]
