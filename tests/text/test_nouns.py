"""Which words may be nouns, on sentences read by hand."""

import re

import pytest

from playground.text.nouns import find_nouns


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
