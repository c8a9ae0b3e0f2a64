"""The tour on the pages, without a browser: it starts, goes on by itself and by hand, and leaves."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.web.shared.tour import STEPS
from tests.web.app_test import SMALL, choose, component_data, open_page, press, prose, sentences, working

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
