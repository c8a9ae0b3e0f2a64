"""Caches of what compares sentences."""

from playground.analysis import sentences
from playground.analysis.sentences import DepthMap, LeftOutWords, SentenceDepths, map_depths
from playground.analysis.vector_changes import Pooling
from playground.model.changes import Change
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights

Changes = tuple[tuple[Change, ...], ...]
"""What changes in each sentence's run, all of which it can have; empty where nothing changes."""


@cache_by_weights
def read_depths(key: RunKey, changes: Changes) -> SentenceDepths:
    """Run every sentence of the key's text; raises as `caches.run_sentence`."""
    with caches.turn_on_text(key) as (model, batch):
        return sentences.read_depths(model, batch, seed=key.seed, causal=key.causal, interventions=changes)


@cache_by_weights
def map_sentences(key: RunKey, changes: Changes, pooling: Pooling) -> DepthMap:
    """The sentences on two axes at every depth; raises as `caches.run_sentence`."""
    pooled = read_depths(key, changes).pooled[pooling]
    with services().turns.take():
        return map_depths(pooled)


@cache_by_weights
def leave_words_out(key: RunKey, changes: Changes, other: int, pooling: Pooling) -> LeftOutWords:
    """The key's sentence without each of its words, beside the `other` one; raises as `caches.run_sentence`.

    Every change is one for any text.
    """
    vector = read_depths(key._replace(sentence=0), changes).pooled[pooling][-1, other]
    with caches.turn_on_text(key) as (model, batch):
        return sentences.leave_words_out(
            model,
            caches.tokenizer(key.text),
            batch,
            key.sentence,
            vector,
            pooling,
            seed=key.seed,
            causal=key.causal,
            interventions=changes[key.sentence] if changes else (),
        )
