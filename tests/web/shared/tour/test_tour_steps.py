"""The tour's steps: each is done by what it asks for, and by nothing else."""

import re
from dataclasses import replace

import pytest

from playground.link.params import DEFAULT_TEXT, TOUR
from playground.web.shared.navigation import pages
from playground.web.shared.tour import STEPS, TourState

BEGIN = TourState(page="attention", text=DEFAULT_TEXT)
"""Before anything is done."""

BY_NAME = {step.name: step for step in STEPS}

DONE = {
    "text": replace(BEGIN, text="Anna gave Tom his book."),
    "cell": replace(BEGIN, actions=frozenset({"cell chosen"})),
    "why": replace(BEGIN, actions=frozenset({"computation opened"})),
    "pin": replace(BEGIN, is_pinned=True),
    "change": replace(BEGIN, is_pinned=True, is_changed=True),
    "link": replace(BEGIN, actions=frozenset({"link copied"})),
}
"""The state that each step asks for, in their order."""


def test_the_link_knows_as_many_steps_as_there_are() -> None:
    assert TOUR["tour"].high == len(STEPS)
    assert list(BY_NAME) == list(DONE)


@pytest.mark.parametrize("name", DONE)
def test_a_step_is_done_by_what_it_asks_for_alone(name: str) -> None:
    is_done = BY_NAME[name].is_done
    assert is_done(DONE[name])
    assert not is_done(BEGIN)
    others = [other for other in DONE if other != name and (name, other) != ("pin", "change")]
    assert [other for other in others if is_done(DONE[other])] == []


@pytest.mark.parametrize("text", ["", " \n", DEFAULT_TEXT, f" {DEFAULT_TEXT}\n"])
def test_neither_the_default_nor_nothing_is_a_text_of_ones_own(text: str) -> None:
    assert not BY_NAME["text"].is_done(replace(BEGIN, text=text))


def test_a_cell_is_chosen_where_its_weights_are_to_be_seen() -> None:
    assert not BY_NAME["cell"].is_done(replace(DONE["cell"], page="overview"))


def test_what_is_changed_needs_something_to_compare_with() -> None:
    assert not BY_NAME["change"].is_done(replace(DONE["change"], is_pinned=False))


@pytest.mark.parametrize(("word", "named"), [("Her", "*Her*"), (None, "any word")])
def test_the_row_to_look_at_is_the_one_that_the_overview_asks_about(word: str | None, named: str) -> None:
    assert f"the row of {named}." in BY_NAME["cell"].sentence(replace(BEGIN, word=word))


def test_the_computation_to_open_is_another_than_the_open_one() -> None:
    why = BY_NAME["why"]
    assert "**competition**" in why.sentence(BEGIN)
    assert "**products**" in why.sentence(replace(BEGIN, computation="competition"))


def test_without_one_head_the_step_says_how_to_get_its_answer() -> None:
    assert BY_NAME["why"].hint(BEGIN) is None
    assert "one head" in str(BY_NAME["why"].hint(replace(BEGIN, shows_one_head=False)))


def test_what_is_not_there_is_not_named() -> None:
    assert "causal" in BY_NAME["change"].sentence(BEGIN)
    assert "causal" not in BY_NAME["change"].sentence(replace(BEGIN, is_mask_free=False))
    assert "Pin this" in str(BY_NAME["change"].hint(BEGIN))
    assert BY_NAME["change"].hint(DONE["pin"]) is None
    assert "before" in BY_NAME["link"].sentence(DONE["change"])
    assert "before" not in BY_NAME["link"].sentence(DONE["pin"])
    assert not BY_NAME["link"].has_target(BEGIN)
    assert not BY_NAME["why"].has_target(replace(BEGIN, shows_one_head=False))


def test_every_step_is_on_a_page_that_there_is_and_reads_in_a_breath() -> None:
    for step in STEPS:
        assert step.page is None or step.page in pages()
        assert bool(step.target) <= bool(step.page)
        for sentence in re.split(r"[.:?] ", step.sentence(BEGIN)):
            assert len(sentence.split()) <= 20, step.name
