"""Which pronoun of a sentence is looked at."""

import pytest

from playground.text.sentences import choose_pronoun


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["[CLS]", "She", "saw", "her", "that"], 1),
        (["the", "animal"], None),
        (["i", "t"], None),
    ],
)
def test_the_first_pronoun_is_taken(tokens: list[str], expected: int | None) -> None:
    assert choose_pronoun(tokens) == expected
