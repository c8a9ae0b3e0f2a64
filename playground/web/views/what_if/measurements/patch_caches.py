"""How much nearer to another sentence each patched vector brings one, measured some at a time."""

from typing import NamedTuple

import numpy as np

from playground.analysis.part_importance import measure_patches
from playground.errors import TooLargeError
from playground.runs.arrays import Array
from playground.runs.variant_runs import rows_at_once
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights
from playground.web.views.what_if.measurements.effect_caches import MAX_PASSES
from playground.web.views.what_if.measurements.growing_numbers import GrowingNumbers, Rows, cut, empty_numbers


class PatchKey(NamedTuple):
    """What the shares depend on."""

    key: RunKey
    """Of the sentence that is patched, without changes."""
    source: int
    """The sentence that vectors are taken from; of as many tokens."""


@cache_by_weights
def patched_shares(key: RunKey, source: int) -> GrowingNumbers:
    """A row a place, token by token at each depth, with one column: how much nearer, as `measure_patches` has it.

    `source` is only what tells the measurements of one sentence apart.

    Raises:
        TooLargeError: the places are too many to be measured; and as `caches.run_sentence`.
    """
    run, n_layers = caches.run_sentence(key), key.config.n_layers
    n_tokens, most = int((~run.padding).sum()), rows_at_once(key.config, len(run.tokens))
    by_depth = [range(depth * n_tokens, (depth + 1) * n_tokens) for depth in range(n_layers + 1)]
    parts = [part for rows in by_depth for part in cut(rows, most)]
    work = [len(part) * (n_layers - max(0, part[0] // n_tokens - 1)) / n_layers for part in parts]
    if sum(work) > MAX_PASSES:
        raise TooLargeError(
            f"These are {(n_layers + 1) * n_tokens:,} places to patch, which take more than {MAX_PASSES:,} whole runs "
            "of the sentence. A shorter one, or fewer layers, would fit."
        )
    return empty_numbers(parts, work, 1)


def measure_rows(key: PatchKey, rows: Rows) -> Array:
    """Some rows of `patched_shares`; raises as `caches.run_sentence`."""
    run_key, source = key
    runs = caches.run_sentence(run_key), caches.run_sentence(run_key._replace(sentence=source))
    batch = caches.tokenize(run_key.text)
    with services().turns.take():
        encoder = caches.encoder(run_key.weights, run_key.config, run_key.seed)
        *_, shares = measure_patches(
            encoder, batch, run_key.sentence, source, runs, seed=run_key.seed, causal=run_key.causal, places=rows
        )
    return np.ravel(shares)[list(rows)][:, None]
