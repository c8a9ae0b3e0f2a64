"""The tour: its steps and its line."""

import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import DEFAULT_TEXT, TOUR
from playground.web.shared.navigation import pages
from playground.web.shared.tour import STEPS, TourState
from tests.web.app_test import SMALL, choose, component_data, open_page, press, prose, sentences, working

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


BUTTONS = {"tour_start", "tour_back", "tour_skip", "tour_end", "tour_show"}


def tour_buttons(app: AppTest) -> set[str]:
    """The tour's buttons on the page that can be pressed."""
    return {button.key for button in app.button if button.key in BUTTONS and not button.disabled}


def shown_step(app: AppTest) -> str | None:
    """The step on the page, by its name, as the page, the session and the address agree on it."""
    number = int(app.session_state["tour"]) if "tour" in app.session_state else 0
    written = component_data(app, "address_guard")["parameters"].get("tour", [])
    assert written == ([str(number)] if number else [])
    assert (f"**Step {number} of {len(STEPS)}.**" in prose(app)) == bool(number)
    return STEPS[number - 1].name if number else None


def act(app: AppTest, action: str) -> AppTest:
    """Do by hand what only a browser can, in a view of a component."""
    app.session_state["_actions"] = frozenset({action})
    return working(app.run())


@pytest.mark.parametrize(
    ("text", "step"), [("99", "link"), ("x", None), ("-1", None), ("0", None), ("2.5", None), ("9" * 3000, None)]
)
def test_a_link_that_asks_for_another_step_opens_the_nearest_or_none_and_says_so(text: str, step: str | None) -> None:
    app = open_page("attention", **SMALL, tour=text)
    assert shown_step(app) == step
    assert ("tour=" in sentences(app)) == (text != "0")


def test_a_newcomer_goes_through_all_steps_by_doing_what_they_say() -> None:
    app = press(open_page("overview", **SMALL), "tour_start")
    assert shown_step(app) == "text"
    assert shown_step(choose(app, text="he saw it")) == "cell"
    assert shown_step(act(app, "cell chosen")) == "cell", "on the overview there is no map"
    app = open_page("attention", **SMALL, text="he saw it", tour=2)
    assert shown_step(act(app, "cell chosen")) == "why"
    assert shown_step(choose(app, attention_why="competition")) == "pin"
    assert shown_step(press(app, "pin")) == "change"
    assert shown_step(choose(app, d_ff=64)) == "link"
    assert shown_step(act(app, "link copied")) is None
    assert tour_buttons(app) == {"tour_end"}
    assert tour_buttons(press(app, "tour_end")) == set()


def test_a_step_that_is_gone_back_to_waits_for_something_to_happen() -> None:
    app = open_page("attention", **SMALL, text="he saw it", tour=2)
    assert shown_step(press(app, "tour_back")) == "text"
    assert "tour_back" not in tour_buttons(app)
    assert shown_step(choose(app, attention_hide=True)) == "text", "which has nothing to do with the step"
    assert shown_step(choose(app, text="she saw it")) == "cell"
    assert shown_step(press(press(app, "tour_back"), "tour_skip")) == "cell"


def test_steps_can_be_skipped_to_the_end_and_the_tour_be_left_at_any() -> None:
    app = open_page("attention", **SMALL, tour=1)
    names = [shown_step(app)]
    while names[-1] is not None:
        names.append(shown_step(press(app, "tour_skip")))
    assert names == [*(step.name for step in STEPS), None]
    left = press(open_page("overview", **SMALL, tour=4), "tour_end")
    assert shown_step(left) is None
    assert tour_buttons(left) == {"tour_start"}


def test_a_new_step_is_announced_to_whoever_cannot_see_it() -> None:
    app = press(open_page("overview", **SMALL), "tour_start")
    assert component_data(app, "announcement")["sentence"].startswith("Step 1 of 6. Type a sentence")
    choose(app, text="he saw it")
    told = component_data(app, "announcement")["sentence"]
    assert told.startswith("Step 2 of 6. ")
    assert "the row of any word" in told, "without the marks of markdown"
    app = open_page("attention", **SMALL, tour=3, attention_show="average of heads")
    assert "Set Show to one head first" in component_data(app, "announcement")["sentence"]
    app = press(open_page("attention", **SMALL, tour=6), "tour_skip")
    assert component_data(app, "announcement")["sentence"].startswith("That was the tour.")
    assert component_data(press(app, "tour_end"), "announcement") == {}


def test_what_a_link_has_done_already_is_passed() -> None:
    assert shown_step(open_page("attention", **SMALL, tour=4, b_d_ff=64)) == "link"
    assert shown_step(open_page("attention", **SMALL, tour=4, pinned=True)) == "change"


def test_reset_ends_the_tour() -> None:
    app = open_page("attention", **SMALL, tour=3)
    assert shown_step(press(app, "reset")) is None


def test_without_one_head_the_step_names_what_to_set_first() -> None:
    app = open_page("attention", **SMALL, tour=3, attention_show="average of heads")
    assert any("one head" in caption.value and "Show" in caption.value for caption in app.caption)
