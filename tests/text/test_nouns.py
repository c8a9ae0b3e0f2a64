"""Which words may be nouns, on sentences read by hand."""

import re

import pytest

from playground.text.sentences import choose_pronoun, find_nouns


@pytest.mark.parametrize(
    ("sentence", "nouns"),
    [
        ("The nurse thanked the driver because she was late.", "nurse driver"),
        ("The trophy does not fit in the suitcase because it is too big.", "trophy suitcase"),
        ("Anna gave Tom the new book because he had asked for it.", "Anna Tom book"),
        ("Yesterday my family saw two dogs, cats and birds, and they barked.", "family dogs cats birds"),
        ("I like cats because dogs didn't come into Anna's house.", "cats dogs Anna house"),
        ("Rain fell quietly.", "Rain"),
        ("It was late!", ""),
        ("", ""),
    ],
)
def test_nouns_are_names_and_what_an_article_or_the_like_introduces(sentence: str, nouns: str) -> None:
    words = re.findall(r"\w+|[^\w\s]", sentence)  # as tokenizers cut
    assert [words[place] for place in find_nouns(words)] == nouns.split()


@pytest.mark.parametrize(
    ("sentence", "pronoun"),
    [
        ("She gave the dog a bone because it was hungry.", 7),
        ("the animal didn ' t cross the street because it was too tired .", 9),
        ("The nurse thanked the driver because she was late.", 6),
        ("He said that the doctor thinks he is late.", 6),
        ("The dog saw the cat, who ran because it was late.", 9),
        ("It rained, so the teacher told the boys that they can go.", 10),
        ("She saw her that", 0),
        ("the animal", None),
        ("i t", None),
    ],
)
def test_the_pronoun_has_nouns_to_choose_from_and_it_and_they_come_first(sentence: str, pronoun: int | None) -> None:
    assert choose_pronoun(re.findall(r"\w+|[^\w\s]", sentence)) == pronoun
