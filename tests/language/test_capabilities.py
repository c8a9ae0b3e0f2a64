"""The sentences: those that were learnt, and what is held out is never learnt from."""

import hashlib

import pytest

from playground.language import CAPABILITIES, Capability
from playground.language.capabilities import training_text
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


@each_capability
def test_the_tokenizer_reads_back_what_is_written(capability: Capability) -> None:
    for example in capability.examples(30):
        batch = english_tokenizer().encode_batch([join_words(example.words)])
        assert batch.tokens[0][1:-1] == list(example.words)
        assert batch.ids[0, 1:-1].tolist() == [IDS[word] for word in example.words]
