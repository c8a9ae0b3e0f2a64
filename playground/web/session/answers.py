"""What encoders of the small English fill in for a hidden word, and what each head is worth to that answer."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from playground.analysis.streams import logit_lens
from playground.language import answers
from playground.language.network import EnglishNetwork
from playground.language.text import IDS, MASK_ID
from playground.link.state import AFTER, BEFORE, RunKey
from playground.runs.arrays import Array
from playground.web.session import caches
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights


class HiddenWord(NamedTuple):
    """The mask in a sentence."""

    place: int
    word: str
    """The masked word; empty if it is unknown, or the text itself has the mask."""


def hidden_word(key: RunKey) -> HiddenWord | None:
    """Return the first mask of a run's sentence; None if it has none, or the weights fill in nothing."""
    if not key.weights.startswith((AFTER, BEFORE)):
        return None
    places = (caches.tokenize(key.text).ids[key.sentence] == MASK_ID).nonzero().flatten().tolist()
    if not places:
        return None
    was = caches.tokenize(replace(key.text, hidden=None)).tokens[key.sentence][places[0]]
    return HiddenWord(places[0], was if IDS.get(was, MASK_ID) > MASK_ID else "")


@cache_by_weights
def fill_in(key: RunKey) -> Array:
    """Return every word's probability at every depth, (layers + 1, words); raises as `caches.run_sentence`."""
    network, hidden = _network_and_hidden(key)
    run = caches.run_sentence(key)
    with services().turns.take():
        return logit_lens(run, hidden.place, network.encoder, network.network.head)


def score_hidden(key: RunKey, final: Array) -> Array:
    """Return the hidden word's probability from what leaves the encoder: (N, T, D) → (N,); NaN if it is unknown."""
    network, hidden = _network_and_hidden(key)
    if not hidden.word:
        return np.full(len(final), np.nan, np.float32)
    return answers.score_word(network.network, final, hidden.place, IDS[hidden.word])


@cache_by_weights
def head_costs(key: RunKey, word: str) -> Array:
    """Return the probability that one word loses without each head, (layers, heads); raises as `fill_in`."""
    network, hidden = _network_and_hidden(key)
    batch = caches.tokenize(key.text)
    with services().turns.take():
        return answers.head_costs(network.network, batch, key.sentence, hidden.place, IDS[word], causal=key.causal)


def _network_and_hidden(key: RunKey) -> tuple[EnglishNetwork, HiddenWord]:
    hidden = hidden_word(key)
    if hidden is None:
        raise ValueError("no word of this sentence is hidden")
    return caches.english_network(key.weights, key.config, key.seed), hidden
