"""One sentence in many variants, or many sentences of a batch, in a few passes.

A variant starts at its first change, from an untouched pass. N variants, T tokens, D = d_model.
"""

from collections.abc import Callable, Iterator, Sequence

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
"""Numbers in a layer: 32 MB in fp32."""

Variant = Sequence[Change]
BatchStep = tuple[tuple[int, ...], dict[str, Array]]


def rows_at_once(config: ModelConfig, n_tokens: int) -> int:
    """Return how many variants of a sentence go through a layer together, one at least."""
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
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Run variants of a sentence, some of them a step; yield which, from 0, and what left the encoder, (N, T, D).

    Arguments as of `encoder_run.run`; variants begin in the `untouched` run, if it is given.

    Raises:
        TooLargeError: not even one variant fits the memory budget.
        InterventionError: an intervention cannot apply beside the others of its variant.
        InputError: the sentence is over max_len.
    """
    config, n_tokens = encoder.config, batch.ids.shape[1]
    check_kept(config, n_tokens)
    row = read_rows(encoder, batch, [sentence], seed=seed, causal=causal)
    streams = _read_streams(encoder, row, untouched)
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
            yield chosen, to_array(run_rows(encoder, begin.repeat(len(chosen)), trace))


def _read_streams(encoder: Encoder, row: Rows, untouched: Run | None) -> list[Tensor]:
    """What every block reads in a pass that nothing changes, (1, T, D) each, and what leaves the last."""
    points, weights = residual_points(encoder.config), next(encoder.parameters())
    if untouched is not None:
        return [torch.tensor(untouched.arrays[point])[None].to(weights) for point in points]
    trace = Trace(frozenset(points).__contains__)
    run_rows(encoder, row, trace)
    return [trace[point] for point in points]


MAX_WORK = 60_000_000_000
"""Operations: about one run of the largest model on one long text."""

MAX_VECTORS = 4_000_000
"""16 MB in fp32."""


def count_affordable(config: ModelConfig, lengths: Sequence[int]) -> int:
    """Return how many of the first sentences can be run; one at least."""
    counts = range(len(lengths), 1, -1)
    return next((n for n in counts if can_afford(config, max(lengths[:n]), n)), 1)


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
    """Run sentences of a batch, as many at a time as fit; yield which, and arrays by the trace's names.

    Arguments and errors as of `run_variants` and `run_rows`; a sentence with interventions is run on its own.
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
        trace = intervention_trace(encoder, batch, i, [interventions[i]], seed=seed, causal=causal, keep=keep)
        yield _keep_step(encoder, batch, [i], trace, seed=seed, causal=causal, end=end)


def _keep_step(
    encoder: Encoder, batch: Batch, sentences: Sequence[int], trace: Trace, *, seed: int, causal: bool, end: int | None
) -> BatchStep:
    run_rows(encoder, read_rows(encoder, batch, sentences, seed=seed, causal=causal), trace, end=end)
    return tuple(sentences), {name: to_array(tensor) for name, tensor in trace.items()}
