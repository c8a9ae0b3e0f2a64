"""The tours as data: what their steps ask for, on states alone."""

import re
from dataclasses import replace

import pytest

from playground.learn.pronoun_tour import PRONOUN, list_nouns
from playground.learn.tour import START, TourState
from playground.learn.tours import TOURS
from playground.link.changes import read_changes
from playground.link.params import EXPERIMENTS, PARAMS, TOUR
from playground.pages import PAGES

TOKENS = ("[CLS]", "the", "dog", "saw", "the", "cat", ".", "it", "ran", "[SEP]")
DOG, CAT, DOT, IT = 2, 5, 6, 7

BEGIN = TourState(
    page="attention",
    values=dict(START) | {"query": IT, "key": IT},
    began=dict(START) | {"query": IT, "key": IT},
    tokens=TOKENS,
    special=tuple(token.startswith("[") for token in TOKENS),
)
"""Before anything is done, in the experiment with pronouns."""

BY_NAME = {step.name: step for step in PRONOUN.steps}


def at(state: TourState = BEGIN, *actions: str, **values: object) -> TourState:
    return replace(state, values={**state.values, **values}, actions=state.actions | set(actions))


DONE = {
    "find": at(BEGIN, "cell chosen", key=DOG),
    "rival": at(BEGIN, key=DOG, attention_rival=str(CAT)),
    "swap": replace(BEGIN, answers={"swap": "word"}),
    "off": at(BEGIN, do=read_changes("3.1:zero")[0]),
}
"""The state that each step asks for, in their order."""


@pytest.mark.parametrize("name", DONE)
def test_a_step_is_done_by_what_it_asks_for_alone(name: str) -> None:
    is_done = BY_NAME[name].is_done
    assert list(BY_NAME) == list(DONE)
    assert [other for other in DONE if is_done(DONE[other])] == [name]
    assert not is_done(BEGIN)


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"key": 0}, "no word"), ({"key": DOT}, "no word"), ({"key": IT}, "itself"), ({"query": DOG}, "row 7")],
)
def test_another_cell_is_not_the_answer_and_the_step_says_why(changes: dict[str, int], told: str) -> None:
    state = at(DONE["find"], **changes)
    assert not BY_NAME["find"].is_done(state)
    assert told in str(BY_NAME["find"].hint(state))
    assert BY_NAME["find"].hint(BEGIN) is None


def test_a_cell_of_another_page_or_of_the_text_before_is_not_chosen_here() -> None:
    assert not BY_NAME["find"].is_done(replace(DONE["find"], page="overview"))
    assert not BY_NAME["find"].is_done(replace(DONE["find"], has_focus=False))


@pytest.mark.parametrize("rival", ["automatic", "mean", "0", str(DOG), "200"])
def test_the_rival_is_another_word_of_the_sentence(rival: str) -> None:
    assert not BY_NAME["rival"].is_done(at(DONE["rival"], attention_rival=rival))


@pytest.mark.parametrize(("do", "is_off"), [("3.1:zero", True), ("-3.1:zero", False), ("3.2:zero", False), ("", False)])
def test_the_head_in_focus_is_the_one_to_switch_off(do: str, is_off: bool) -> None:
    assert BY_NAME["off"].is_done(at(do=read_changes(do)[0])) == is_off


@pytest.mark.parametrize(("query", "pronoun"), [(DOG, IT), (IT, IT)])
def test_a_pronoun_that_can_mean_two_nouns_is_asked_about_where_none_is_chosen(query: int, pronoun: int) -> None:
    assert at(query=query).pronoun == pronoun
    two = replace(at(query=IT), tokens=("she", *TOKENS[1:]), special=(False,) * len(TOKENS))
    assert two.pronoun == IT
    assert at(two, query=DOG).pronoun == IT, "she has no noun before it"
    assert at(two, query=0).pronoun == 0, "chosen"


def test_words_that_the_pronoun_may_mean_are_offered_in_their_order() -> None:
    assert list_nouns(BEGIN) == {str(DOG): "dog", str(CAT): "cat"}
    two = replace(BEGIN, tokens=("a", "dog", "and", "a", "dog", "she"), special=(False,) * 6)
    assert list_nouns(at(two, query=5)) == {"4": "dog"}
    assert list_nouns(replace(BEGIN, tokens=(), special=())) == {}


def test_without_a_pronoun_the_step_says_what_to_type() -> None:
    state = replace(BEGIN, tokens=("a", "dog"), special=(False, False))
    assert "Type a sentence" in BY_NAME["find"].sentence(state)
    assert not BY_NAME["find"].has_target(state)
    assert not BY_NAME["find"].is_done(at(state, "cell chosen", query=0, key=1))


def test_links_know_every_tour_and_its_end() -> None:
    assert set(TOURS) <= set(EXPERIMENTS)
    assert PARAMS["experiment"].default in TOURS
    for name, tour in TOURS.items():
        assert tour.name == name
        assert PARAMS["tour"].high > len(tour.steps)  # type: ignore[union-attr]
        assert {tour.page, tour.onward[0]} <= PAGES.keys()
        for step in tour.steps:
            assert step.page is None or step.page in PAGES
            assert bool(step.target) <= bool(step.page)
    assert TOUR.keys() <= PARAMS.keys()


@pytest.mark.parametrize("name", TOURS)
def test_every_step_reads_in_a_breath(name: str) -> None:
    for step in TOURS[name].steps:
        for state in (BEGIN, replace(BEGIN, tokens=(), special=())):
            for sentence in re.split(r"[.:?!] ", step.sentence(state)):
                assert len(sentence.split()) <= 20, step.name
