"""The Exercises page without a browser: what it says of links, states and servers that are not as they should be."""

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from streamlit.testing.v1 import AppTest

from playground.learn.exercise import Variant
from playground.web.session import caches
from playground.web.session.caches import shipped_exercises
from playground.web.session.services import Turns, other_services
from playground.web.views.exercises import pose_variant
from playground.weights import checkpoint
from tests.web.app_test import (
    answer,
    charts,
    component_data,
    open_page,
    press,
    prose,
    sentences,
    without_error,
    working,
)

_DEMOS = Path(__file__).resolve().parents[2] / "data" / "exercises"
SECRET = "Secretword"


@pytest.fixture(autouse=True)
def demos() -> Iterator[None]:
    """The tests' own exercises beside the shipped ones, on a server that has posed none yet."""
    with mock.patch.object(caches, "EXERCISE_FOLDERS", [*caches.EXERCISE_FOLDERS, _DEMOS]):
        forget_posed()
        yield
    forget_posed()


def forget_posed() -> None:
    for find in (caches.shipped_exercises, pose_variant):
        find.clear()


def open_demo(name: str, **query: object) -> AppTest:
    return open_page("exercises", exercises_key=f"demo-{name}", **query)


def everything(app: AppTest) -> str:
    """All that was sent, as text."""
    return str([str(element.proto) for element in app.main if hasattr(element, "proto")]) + prose(app)


def buttons(app: AppTest) -> set[str | None]:
    return {button.key for button in app.button}


def test_the_list_says_where_to_begin_and_goes_on_from_there() -> None:
    app = without_error(open_page("exercises"))
    assert {f"exercise_open_{key}" for key in shipped_exercises()} <= buttons(app)
    following = next(exercise for exercise in shipped_exercises().values() if exercise.title in answer(app))
    app = press(app, "exercise_begin")
    assert app.title[0].value == following.title
    assert component_data(app, "address_guard")["parameters"]["exercises_key"] == [following.key]


def test_an_unknown_key_gets_one_sentence_and_the_list() -> None:
    app = without_error(open_page("exercises", exercises_key="none-of-them"))
    assert "“none-of-them”" in sentences(app)
    assert "exercise_begin" in buttons(app)


def test_without_the_checkpoint_an_exercise_of_it_says_so_and_the_way_back_is_there() -> None:
    with (
        mock.patch.object(checkpoint, "MINILM_PACKAGE", "a_package_that_is_not_installed"),
        mock.patch.object(checkpoint, "minilm_path", return_value=None),
    ):
        app = working(open_demo("trained", weights="random", tokenizer="char"))
    assert len(app.error) == 1
    assert SECRET not in everything(app)
    assert "exercise_list" in buttons(app)
    assert "exercise_check" not in buttons(app)


def test_a_check_waits_for_its_turn_and_says_when_none_comes() -> None:
    app = without_error(open_demo("number"))
    app.text_input(key="answer_demo-number_0").set_value("2176")
    with other_services(turns=Turns(0, 0.2)):
        app = press(app, "exercise_check")
    assert "Many people are computing" in sentences(app)
    assert SECRET not in everything(app)


def test_the_trained_encoder_is_the_apps_own() -> None:
    """Neither a second copy in memory nor a second reading of the file."""
    first = pose_variant("demo-trained", 0)
    assert pose_variant("demo-trained", 0) is first
    assert first.truth == pytest.approx(Variant(first.exercise, 0).truth, rel=1e-5)
    assert first.view.encoder is Variant(first.exercise, 1, caches.APP).view.encoder


def test_what_is_given_up_shows_its_own_state_and_stays_out_of_the_link_and_the_sidebar() -> None:
    app = press(open_demo("number", text="another", seed=9), "exercise_give_up")
    assert SECRET in prose(app)
    assert set(charts(app)) == {"parameter_breakdown"}
    assert sum(x for trace in charts(app)["parameter_breakdown"] for x in trace["x"]) == 4592
    assert (app.session_state["text"], app.session_state["seed"]) == ("another", 9)
    address = component_data(app, "address_guard")["parameters"]
    assert {key for key, texts in address.items() if texts and key.startswith(("exercise", "answer"))} == {
        "exercises_key"
    }
    assert SECRET not in everything(open_demo("number"))


def test_settings_that_should_stay_are_named_and_undo_brings_back_ones_own() -> None:
    app = press(open_demo("settings", text="my own words"), "exercise_start")
    assert (app.session_state["d_model"], app.session_state["text"]) == (16, "a cat sat down here")
    assert press(app, "undo").session_state["text"] == "my own words"
    press(app, "exercise_start")
    for change, told in (
        ({"weights": "mine"}, "minilm or random"),
        ({"weights": "random", "d_model": 8}, "d_model"),
        ({"d_model": 16, "n_layers": 3}, "A layer more has parameters of its own"),
    ):
        for key, value in change.items():
            app.session_state[key] = value
        app = press(working(app.run()), "exercise_check")
        assert told in sentences(app)
        assert SECRET not in everything(app)
    app.session_state["n_layers"] = 1
    app = press(working(app.run()), "exercise_check")
    assert "3 tries" in answer(app)
    assert "`n_layers`: 2 → **1**" in prose(app)


def test_the_question_stands_on_the_page_where_it_is_worked_on() -> None:
    app = press(open_page("exercises", exercises_key="uniform-attention"), "exercise_start")
    question = "Make head 1 of layer 3 look evenly at all tokens"
    assert question in sentences(without_error(app.switch_page("../../pages/what_if.py").run()))
    assert question not in sentences(app.switch_page("../../pages/norms.py").run())
    app = press(app.switch_page("../../pages/exercises.py").run(), "exercise_list")
    assert question not in sentences(app.switch_page("../../pages/what_if.py").run())


def test_a_head_is_chosen_by_its_layer_and_its_number() -> None:
    app = press(open_demo("click"), "exercise_check")
    assert "Choose an answer" in sentences(app)
    for head, tries in ((1, "1 try"), (0, "2 tries")):
        app.button_group(key="answer_demo-click_0_layer").set_value(0)
        app.button_group(key="answer_demo-click_0_head").set_value(head)
        app = press(app, "exercise_check")
        assert tries in answer(app)
    assert set(charts(app)) == {"exercise_truth", "attention_pattern"}
