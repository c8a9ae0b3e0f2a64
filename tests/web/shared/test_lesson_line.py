"""A lesson on the pages: its line, its steps done by hand, what is hidden, and what comes back at its end."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.learn.lesson import Lesson, LessonStep, encode_lesson, find_lesson, shipped_lessons
from playground.link.kinds import read_changes
from tests.web.app_test import SMALL, choose, component_data, open_page, press, prose, sentences, values, working

OWN = {"text": "cats purr", "weights": "random", "n_layers": 3, "n_heads": 4, "d_model": 64}
MINE = Lesson(
    title="Mine",
    steps=[
        LessonStep(
            words="Look at *this*.", link="attention?text=dogs+bark&weights=random&n_layers=2&n_heads=3&d_model=96"
        ),
        LessonStep(words="Now say.", exercise="number-of-heads"),
        LessonStep(words="Go there.", page="norms"),
    ],
)
CODE = encode_lesson(MINE)


def shown_step(app: AppTest) -> int:
    """The number of the step on the page, as the page, the session and the address agree on it; 0 in no lesson."""
    number = int(app.session_state["tour"]) if "tour" in app.session_state else 0
    written = component_data(app, "address_guard")["parameters"].get("tour", [])
    assert written == ([str(number)] if number else [])
    assert ("lesson_end" in {button.key for button in app.button}) == bool(number)
    assert not number or f"· step {number} of " in "".join(caption.value for caption in app.caption)
    return number


def is_done(app: AppTest) -> bool:
    """Whether the step on the page is done, so that Next comes first."""
    (button,) = (each for each in app.button if each.key == "lesson_next")
    return button.proto.type == "primary"


def hidden(app: AppTest) -> str:
    return "".join(each.proto.body for each in app.get("html") if "display: none !important" in each.proto.body)


@pytest.mark.parametrize(("link", "step"), [({"tour": 5}, 4), ({"tour": 9, "lesson": "parts"}, 3), ({"tour": "x"}, 0)])
def test_links_of_every_age_open_their_step_or_the_last(link: dict[str, Any], step: int) -> None:
    app = open_page("attention", **SMALL, **link)
    assert shown_step(app) == step
    assert "experiment" not in sentences(app)


@pytest.mark.parametrize("lesson", [CODE[: len(CODE) // 2], "nothing", "~" + "x" * 7000])
def test_a_broken_lesson_is_one_sentence_and_the_page_runs(lesson: str) -> None:
    app = working(open_page("attention", lesson=lesson, tour=2))
    assert shown_step(app) == 0
    assert "lesson" in sentences(app)


def test_a_newcomer_takes_a_lesson_by_doing_what_it_says() -> None:
    app = press(open_page("overview"), "begin_pronoun")
    assert app.title[0].value == open_page("attention").title[0].value
    assert values(app, "query", "key") == {"query": 10, "key": 10}
    app = open_page("attention", lesson="pronoun", tour=1, key=10)  # on which AppTest stays
    assert not is_done(app)
    assert "st-key-beside_map" in hidden(app)
    app.session_state["key"] = 2  # as a click on the map, which only a browser can do
    assert is_done(working(app.run()))
    assert "gives *animal* a weight of 0.68" in prose(app)
    assert not hidden(app)
    app = press(press(app, "lesson_next"), "lesson_next")
    assert "st-key-attention_top" in hidden(app)
    app = press(app, "lesson_guess_0")
    assert "**Not so.** *street* gets 0.52" in prose(app)
    assert "**Right.**" in prose(press(press(press(app, "lesson_back"), "lesson_next"), "lesson_guess_1"))
    app = press(press(app, "lesson_next"), "quick_0")
    assert "moves by 6.6% of its length" in prose(app)
    assert shown_step(press(app, "lesson_end")) == 0


@pytest.mark.long
def test_a_lesson_opens_each_state_and_keeps_its_place() -> None:
    app = press(open_page("lessons", lesson=CODE, **OWN), "lesson_begin")
    assert values(app, "text", "n_layers") == {"text": "dogs bark", "n_layers": 2}
    assert "Look at *this*." in prose(app)
    app = press(choose(app, n_layers=5), "lesson_open")
    assert values(app, "n_layers") == {"n_layers": 2}
    app = press(choose(app, n_layers=5), "lesson_next")
    assert "Do more heads cost more?" in app.title[0].value
    app = press(app, "lesson_next")
    assert app.title[0].value == open_page("norms").title[0].value
    app.session_state["do"] = read_changes("0.1:zero")[0]
    app = press(press(app, "lesson_back"), "lesson_end")
    assert shown_step(app) == 0
    assert values(app, *OWN) == OWN
    assert not app.session_state["do"], "which the session did not have before"
    app = press(open_page("lessons", lesson=CODE, tour=2), "lesson_list")
    assert shown_step(app) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", shipped_lessons())
def test_every_shipped_step_opens_and_leads_back_to_what_there_was(name: str) -> None:
    app = press(open_page("lessons", **OWN), f"begin_{name}")
    for number, step in enumerate(steps := find_lesson(name).steps, start=1):
        assert shown_step(app) == number
        assert step.words in prose(app)
        app = press(app, "lesson_next" if number < len(steps) else "lesson_end")
    assert values(app, *OWN) == OWN


def test_without_a_text_a_step_is_not_done_and_reset_ends_the_lesson() -> None:
    app = choose(open_page("attention", tour=1, lesson="pronoun", key=2), text="")
    assert not is_done(working(app))
    assert shown_step(press(app, "reset")) == 0
