"""Which pronoun of a sentence is looked at."""

import pytest

from playground.text.pronouns import choose_pronoun


@pytest.mark.parametrize(
    ("tokens", "query", "expected"),
    [
        (["[CLS]", "she", "saw", "Her", "that"], 3, 3),
        (["[CLS]", "she", "saw", "Her", "that"], 4, 1),
        (["the", "animal"], 1, None),
        (["i", "t"], 0, None),
    ],
)
def test_the_query_itself_is_taken_before_the_first(tokens: list[str], query: int, expected: int | None) -> None:
    assert choose_pronoun(tokens, query) == expected
