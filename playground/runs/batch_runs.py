"""Many sentences of a batch, in a few passes over some of them at a time.

Legend: B sentences of one pass, T tokens, padding included, D = d_model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from playground.accounting import count_flops
from playground.config import ModelConfig
from playground.model import Encoder, Trace
from playground.model.interventions import Intervention
from playground.runs.arrays import Array, to_array
from playground.runs.budget import check_kept
from playground.runs.forward_pass import read_rows, run_rows
from playground.runs.interruption import check_interrupted
from playground.runs.intervention_input import intervention_trace
from playground.runs.variant_runs import rows_at_once
from playground.text import Batch

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
    interventions: Sequence[Sequence[Intervention]] = (),
) -> Iterator[BatchStep]:
    """Run sentences of a batch, padded as the batch is, as many at a time as the memory budget allows.

    Args:
        keep: which points of the trace to keep, by name.
        seed: of the words' vectors, as in `encoder_run.run`; so is `causal`.
        sentences: which, from 0; all of them by default.
        interventions: what changes in each of the batch's sentences; one that has any is run on its own.

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
        yield _keep_step(encoder, batch, plain[first : first + at_once], Trace(keep), seed=seed, causal=causal)
    for i in changed:
        check_interrupted()
        trace = intervention_trace(
            encoder, batch, i, [interventions[i]], seed=seed, causal=causal, sources=None, keep=keep
        )
        yield _keep_step(encoder, batch, [i], trace, seed=seed, causal=causal)


def _keep_step(
    encoder: Encoder, batch: Batch, sentences: Sequence[int], trace: Trace, *, seed: int, causal: bool
) -> BatchStep:
    run_rows(encoder, read_rows(encoder, batch, sentences, seed=seed, causal=causal), trace)
    return BatchStep(tuple(sentences), {name: to_array(tensor) for name, tensor in trace.items()})
