"""Sentences of the small English near to somebody's own."""

from playground.language.answers import nearest_sentences
from playground.language.capabilities import CAPABILITIES
from playground.language.text import VOCABULARY


def test_the_nearest_share_words_and_all_their_words_are_known() -> None:
    for text, word in (("Why did the dog bite the queen?", "dog"), ("The box is full!", "full")):
        found = nearest_sentences(text)
        assert len(found) == 3
        assert len({example.words for example in found}) == 3
        assert any(word in example.words for example in found)
        assert all(set(example.words) <= set(VOCABULARY) for example in found)


def test_its_own_sentence_is_the_nearest() -> None:
    for each in CAPABILITIES.values():
        (own,) = each.examples(1)
        assert own in nearest_sentences(" ".join(own.words))
