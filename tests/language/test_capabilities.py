"""The sentences: those that were learnt, what is held out is never learnt from, and no shortcut answers."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from functools import partial
from itertools import combinations
from random import Random

import pytest

from playground.language import CAPABILITIES, Capability
from playground.language.capabilities import Example, training_text
from playground.language.text import IDS, LONGEST, VOCABULARY, english_tokenizer, join_words

each_capability = pytest.mark.parametrize("capability", CAPABILITIES.values(), ids=list(CAPABILITIES))
SENTENCES = list(training_text(6_000, 3))


@each_capability
def test_its_sentences_ask_for_one_of_their_options(capability: Capability) -> None:
    for example in capability.examples(60):
        assert example.answer in example.options
        assert len(set(example.options)) == len(example.options) >= 2
        assert set(example.words) <= set(VOCABULARY)
        assert len(example.words) + 2 <= LONGEST


def test_no_held_out_combination_is_in_the_training_text_in_any_order() -> None:
    learnt = {frozenset(example.combination) for example in SENTENCES}
    held_out = {frozenset(e.combination) for each in CAPABILITIES.values() for e in each.examples(200)}
    assert learnt.isdisjoint(held_out)


def test_the_language_is_the_one_that_networks_have_learnt() -> None:
    """Whoever changes a sentence, a word or a share raises `network.VERSION`, trains the family anew, and this hash."""
    text = "\n".join([*VOCABULARY, *(" ".join((*each.words, str(each.place))) for each in SENTENCES)])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "afa1c8f193565c16"


def read_words(example: Example, places: tuple[int, ...], *, from_mask: bool) -> tuple[str, ...]:
    """Return the words at these places, counted from the mask or the start; the mask's own and missing ones are ""."""
    at = [place + example.place * from_mask for place in places]
    return tuple("" if i == example.place or not 0 <= i < len(example.words) else example.words[i] for i in at)


def score_table(training: list[Example], test: list[Example], view: Callable[[Example], Hashable]) -> float:
    """Return the share of `test` that a table gets right: the option that was right most often for the same view."""
    by_word: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for example in training:
        by_word[view(example)][example.answer] += 1
    return sum(max(each.options, key=by_word[view(each)].__getitem__) == each.answer for each in test) / len(test)


@pytest.mark.long
@each_capability
def test_no_table_of_two_words_comes_near_an_encoder(capability: Capability) -> None:
    random = Random(f"baselines {capability.name} 0")
    training = [capability.drawn(random, held_out=False) for _ in range(3_000)]
    test = capability.examples(800)
    chance = sum(1 / len(example.options) for example in test) / len(test)
    assert 0.3 < chance <= 0.5
    most = 0.95 if capability.name == "tired_or_wide" else chance + 0.25  # its adjective tells the kind of noun
    for from_mask in (False, True):
        for places in combinations(range(-6 * from_mask, 9 - 2 * from_mask), 2):
            share = score_table(training, test, partial(read_words, places=places, from_mask=from_mask))
            assert share < most, (places, from_mask)


@each_capability
def test_the_tokenizer_reads_back_what_is_written(capability: Capability) -> None:
    for example in capability.examples(30):
        batch = english_tokenizer().encode_batch([join_words(example.words)])
        assert batch.tokens[0][1:-1] == list(example.words)
        assert batch.ids[0, 1:-1].tolist() == [IDS[word] for word in example.words]
