"""Caches of the comparison of six encoders; they keep the norms of the gradients, never a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from playground.analysis.gradient_variants import LONGEST, Comparison, check_layers, common_config, compare
from playground.config import ModelConfig
from playground.text.word_vectors import draw_vectors
from playground.web.choices.setup import Setup
from playground.web.server.settings import settings
from playground.web.session import caches
from playground.web.session.caches import TextKey
from playground.web.session.weights_cache import cache_for_everybody

SWEEP_DEPTHS = (1, 2, 4, 8, 16, 32)
"""Numbers of layers that the depth sweep tries, below the one that the page shows."""


@dataclass(frozen=True)
class ComparisonKey:
    """Everything that the page's numbers depend on; hashable, as the key of the caches."""

    text: TextKey
    """Its sentences are cut after `LONGEST` tokens."""
    sentence: int
    config: ModelConfig
    """What the six encoders share."""
    seed: int
    scale: float
    """A factor on the random weights of the linear maps."""
    causal: bool


def build_key(setup: Setup, n_layers: int, scale: float) -> ComparisonKey:
    """The key of the sidebar's choices and the page's own; there has to be a sentence."""
    text = replace(setup.text_key, max_tokens=min(setup.text_key.max_tokens, LONGEST))
    config = replace(setup.config, vocab_size=setup.random_table_rows)
    return ComparisonKey(text, setup.sentence, common_config(config, n_layers), setup["seed"], scale, setup["causal"])


@cache_for_everybody(max_entries=24)
def compare_variants(key: ComparisonKey) -> Comparison:
    """The six encoders at their full depth.

    Raises:
        TooLargeError: each would have more parameters than this server runs.
        BusyError: no turn came free.
        InputError: a tokenizer has no word for the text, or the position table leaves no room for its special tokens.
    """
    return _compare(key, (key.config.n_layers,))


@cache_for_everybody(max_entries=12)
def compare_depths(key: ComparisonKey) -> Comparison:
    """The six encoders at `SWEEP_DEPTHS` and at their full depth; raises as `compare_variants`."""
    full = compare_variants(key)
    depths = [depth for depth in SWEEP_DEPTHS if depth < key.config.n_layers]
    if not depths:
        return full
    shallow = _compare(replace(key, config=replace(key.config, n_layers=depths[-1])), depths)
    return replace(full, flows={**shallow.flows, **full.flows}, seconds=shallow.seconds)


def _compare(key: ComparisonKey, depths: Sequence[int]) -> Comparison:
    check_layers(key.config, settings().max_parameters)
    batch = caches.tokenize(key.text)
    ids = batch.ids[key.sentence][batch.mask[key.sentence]]
    vectors = None if key.config.vocab_size else _vocabulary_vectors(key)
    with caches.TURNS.take():
        return compare(
            key.config,
            key.seed,
            ids,
            depths,
            vectors=vectors,
            scale=key.scale,
            causal=key.causal,
            device=caches.device(),
        )


def _vocabulary_vectors(key: ComparisonKey) -> Tensor:
    """The vector of every word of the text, in the order of their ids: (words, d_model)."""
    tokenizer = caches.tokenizer(key.text)
    words = [tokenizer.id_to_token(i) for i in range(tokenizer.vocab_size)]
    return draw_vectors(words, key.config.d_model, key.seed)
