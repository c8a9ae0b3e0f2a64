"""One sentence in many variants, or many sentences of a batch, in a few passes over some of them at a time.

Nothing changes before a variant's first intervention, so its row starts at that layer, from what one untouched pass
had there.

Legend: N variants of a batch; T tokens, padding included; H heads; D = d_model; B sentences of one pass.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.accounting import count_flops
from playground.config import ModelConfig
from playground.model import Encoder, Trace
from playground.model.changes import Change
from playground.runs.arrays import Array, to_array
from playground.runs.budget import check_interrupted, check_kept
from playground.runs.encoder_run import Run, residual_points
from playground.runs.forward_pass import EMBEDDINGS, Rows, Sources, intervention_trace, read_rows, run_rows
from playground.text import Batch

MAX_AT_ONCE = 8_000_000
"""Numbers that the rows of one pass may hold in a layer at a time: 32 MB in fp32."""

Variant = Sequence[Change]


@dataclass(frozen=True)
class VariantBatch:
    """What left the encoder in some of the variants."""

    numbers: tuple[int, ...]
    """Which variants, as they were counted in what was asked for, from 0."""
    final: Array
    """(N, T, D)"""


def rows_at_once(config: ModelConfig, n_tokens: int) -> int:
    """How many variants of a sentence go through a layer together: as many as the budget allows, one at least."""
    row = n_tokens * ((2 + config.gated) * config.d_ff + 8 * config.d_model) + 3 * config.n_heads * n_tokens**2
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
    starts = [min((each.first_layer for each in variant), default=config.n_layers) for variant in variants]
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
    return [torch.tensor(untouched.arrays[point])[None].to(weights) for point in residual_points(encoder.config)]


def _untouched_streams(encoder: Encoder, row: Rows) -> list[Tensor]:
    """What every block reads in a pass that nothing changes, (1, T, D) each, and after them what leaves the last."""
    points = residual_points(encoder.config)
    trace = Trace(frozenset(points).__contains__)
    run_rows(encoder, row, trace)
    return [trace[point] for point in points]


MAX_WORK = 60_000_000_000
"""Floating-point operations of all passes together: about what one run of the largest model on one long text takes."""

MAX_VECTORS = 4_000_000
"""Numbers in the vectors that leave the encoder, of all sentences together: 16 MB in fp32."""


@dataclass(frozen=True)
class BatchStep:
    """What one pass kept of some of a batch's sentences."""

    sentences: tuple[int, ...]
    """Which, from 0."""
    arrays: Mapping[str, Array]
    """By the trace's names: (B, T, D) and the like, read-only."""


def count_affordable(config: ModelConfig, lengths: Sequence[int]) -> int:
    """How many sentences, the first ones, can be run together within `MAX_WORK` and `MAX_VECTORS`; one at least.

    All are padded to the longest of them, so that a long one makes every other dearer.
    """
    for n in range(len(lengths), 1, -1):
        longest = max(lengths[:n])
        if can_afford(config, longest, n):
            return n
    return 1


def can_afford(config: ModelConfig, n_tokens: int, n_sentences: int) -> bool:
    """Whether so many sentences of so many tokens are within both limits."""
    work = count_flops(config, n_tokens, n_sentences).total
    return work <= MAX_WORK and n_sentences * n_tokens * config.d_model <= MAX_VECTORS


def run_batch(
    encoder: Encoder,
    batch: Batch,
    *,
    keep: Callable[[str], bool],
    seed: int = 0,
    causal: bool = False,
    sentences: Sequence[int] | None = None,
    interventions: Sequence[Sequence[Change]] = (),
    end: int | None = None,
) -> Iterator[BatchStep]:
    """Run sentences of a batch, padded as the batch is, as many at a time as the memory budget allows.

    Args:
        keep: which points of the trace to keep, by name.
        seed: of the words' vectors, as in `encoder_run.run`; so is `causal`.
        sentences: which, from 0; all of them by default.
        interventions: what changes in each of the batch's sentences; one that has any is run on its own.
        end: the layer before which each pass ends, as in `run_rows`.

    Raises:
        TooLargeError: not even one sentence fits the memory budget.
        InterventionError: an intervention cannot apply to its sentence.
        InputError: the longest sentence is longer than the config's max_len.
    """
    n_sentences, n_tokens = batch.ids.shape
    check_kept(encoder.config, n_tokens)
    chosen = range(n_sentences) if sentences is None else sentences
    changed = [i for i in chosen if interventions and interventions[i]]
    plain = [i for i in chosen if i not in set(changed)]
    at_once = rows_at_once(encoder.config, n_tokens)
    for first in range(0, len(plain), at_once):
        check_interrupted()
        yield _keep_step(encoder, batch, plain[first : first + at_once], Trace(keep), seed=seed, causal=causal, end=end)
    for i in changed:
        check_interrupted()
        trace = intervention_trace(
            encoder, batch, i, [interventions[i]], seed=seed, causal=causal, sources=None, keep=keep
        )
        yield _keep_step(encoder, batch, [i], trace, seed=seed, causal=causal, end=end)


def _keep_step(
    encoder: Encoder, batch: Batch, sentences: Sequence[int], trace: Trace, *, seed: int, causal: bool, end: int | None
) -> BatchStep:
    run_rows(encoder, read_rows(encoder, batch, sentences, seed=seed, causal=causal), trace, end=end)
    return BatchStep(tuple(sentences), {name: to_array(tensor) for name, tensor in trace.items()})
