"""The catalogue is whole, and its demonstrations are sentences."""

import re
from pathlib import Path

import pytest

from playground.tutorials.table import NAMES
from playground.tutorials.tutorial_texts import TUTORIALS


def test_all_five_are_there() -> None:
    assert TUTORIALS.keys() == NAMES.keys()


@pytest.mark.parametrize("letter", TUTORIALS)
def test_every_lesson_has_a_page(letter: str, repository: Path) -> None:
    topics = TUTORIALS[letter].topics
    assert topics
    pages = {path.stem.replace("_", "-") for path in repository.glob("pages/*.py")}
    assert {topic.page for topic in topics} <= pages - {"tutorials"}


def test_the_number_of_mistakes_found() -> None:
    assert {letter: len(tutorial.mistakes) for letter, tutorial in TUTORIALS.items()} == {
        "A": 6, "B": 2, "C": 4, "D": 6, "E": 11,
    }  # fmt: skip


def test_what_stands_in_quotation_marks_stands_in_the_tutorial() -> None:
    printed = " ".join(mistake.printed for tutorial in TUTORIALS.values() for mistake in tutorial.mistakes)
    quoted = {"we used pre-norm", "attention is permutation invariant", "std ≈ 1", "like BERT-base"}
    assert set(re.findall("“(.*?)”", printed)) == quoted


@pytest.mark.parametrize("letter", TUTORIALS)
def test_every_mistake_is_shown_where_there_is_something_to_compute(letter: str) -> None:
    for mistake in TUTORIALS[letter].mistakes:
        assert mistake.happens.endswith(".")
        assert not mistake.printed.endswith(".")
        if mistake.demonstration is None:
            assert mistake.happens == "NameError."
        else:
            told = mistake.demonstration()
            assert told == mistake.demonstration()
            assert "\n" not in told
            assert "nan" not in told
