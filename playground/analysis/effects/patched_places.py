"""Where in a model lies what two sentences differ in: each token's vector at each depth, patched from one to the other.

Known as causal tracing (Meng et al. 2022, section 2.1), here without noise: both are sentences, of as many tokens.
Legend: L layers, T tokens, padding left out. A depth counts the blocks passed: 0 is the embeddings, L the last block.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from playground.analysis.effects.sentence_vectors import Pooling, pool, sentence_vector
from playground.analysis.streams import l2
from playground.model import Encoder
from playground.model.interventions import PatchVector
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import run_variants
from playground.text import Batch


def list_patches(n_layers: int, n_tokens: int, source: int) -> list[PatchVector]:
    """Each token's vector of the residual stream from sentence `source`, depth by depth."""
    places = [PatchVector(None, "embed", token, source) for token in range(n_tokens)]
    return places + [PatchVector(i, "out", token, source) for i in range(n_layers) for token in range(n_tokens)]


def measure_patches(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    source: int,
    runs: tuple[Run, Run],
    *,
    pooling: Pooling = "mean",
    seed: int = 0,
    causal: bool = False,
    places: Sequence[int] | None = None,
) -> Iterator[Array]:
    """How much nearer one patched vector brings a sentence's vector to the source's: (L + 1, T).

    1 − ‖patched − source‖ / ‖sentence − source‖. 1: the patched sentence has the source's vector; 0: it is as far from
    it as before; below 0: farther, past it or off to a side. NaN where it is not measured yet, or where the two
    sentences have the same vector. A new map comes with each batch of patches.

    Args:
        runs: the untouched ones of the sentence and of the source.
        seed: of the words' vectors, as in `encoder_run.run`; so is `causal`.
        places: which of `list_patches` to measure, by their numbers; all of them by default.

    Raises:
        InterventionError: the two sentences differ in length.
        TooLargeError: not even one patched run fits the memory budget.
    """
    padding, n_tokens = runs[0].padding, int((~runs[0].padding).sum())
    patches = list_patches(encoder.config.n_layers, n_tokens, source)
    start, goal = (sentence_vector(run, pooling) for run in runs)
    distance = float(l2(goal - start))
    shares = np.full(len(patches), np.nan, dtype=np.float32)
    wanted = np.arange(len(patches)) if places is None else np.array(places)
    variants = [[patches[place]] for place in wanted]
    sources = {source: runs[1].arrays}
    for step in run_variants(
        encoder, batch, sentence, variants, seed=seed, causal=causal, sources=sources, untouched=runs[0]
    ):
        left = l2(pool(step.final, padding, pooling) - goal)
        shares[wanted[list(step.numbers)]] = 1 - left / distance if distance else np.nan
        yield shares.reshape(-1, n_tokens).copy()
