"""The Exercises page without a browser: what it says of links, states and servers that are not as they should be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from streamlit.testing.v1 import AppTest

from playground.learn.exercise import Variant
from playground.link.opening import LinkedView, open_link
from playground.web.session import caches
from playground.web.session.caches import shipped_exercises
from playground.web.session.services import ResultCache, other_services, services
from playground.web.session.turns import Turns
from playground.web.views.exercises.posed import find_items, pose_variant, serve_view
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


def test_the_list_says_where_to_begin_and_goes_on_from_there() -> None:
    app = without_error(open_page("exercises"))
    assert {f"exercise_open_{key}" for key in shipped_exercises()} <= {button.key for button in app.button}
    following = next(exercise for exercise in shipped_exercises().values() if exercise.title in answer(app))
    app = press(app, "exercise_begin")
    assert app.title[0].value == following.title
    assert component_data(app, "address_guard")["parameters"]["exercises_key"] == [following.key]


def test_an_unknown_key_gets_one_sentence_and_the_list() -> None:
    app = without_error(open_page("exercises", exercises_key="none-of-them"))
    assert "There is no exercise “none-of-them”" in sentences(app)
    assert "exercise_begin" in {button.key for button in app.button}
    app = without_error(open_page("exercises", exercises_key="x" * 50))
    assert "50 characters" in sentences(app)


@pytest.mark.parametrize(("number", "shown"), [("1000", "999"), ("-1", "0"), ("x", "0")])
def test_a_variant_out_of_range_is_the_nearest_and_says_so(number: str, shown: str) -> None:
    app = without_error(open_demo("click", exercises_variant=number))
    assert f"exercises_variant=“{number}”" in sentences(app)
    assert app.session_state["exercises_variant"] == int(shown)
    assert app.button_group(key="answer_demo-click_" + shown + "_layer").options


def test_a_state_that_was_repaired_says_so() -> None:
    assert "n_heads=5 does not divide d_model=16" in sentences(without_error(open_demo("repaired")))


def test_without_the_checkpoint_an_exercise_of_it_says_so_and_the_way_back_is_there() -> None:
    with (
        mock.patch.object(checkpoint, "MINILM_PACKAGE", "a_package_that_is_not_installed"),
        mock.patch.object(checkpoint, "minilm_path", return_value=None),
    ):
        app = working(open_demo("trained", weights="random", tokenizer="char"))
    assert len(app.error) == 1
    assert SECRET not in everything(app)
    assert {button.key for button in app.button} >= {"exercise_list"}
    assert "exercise_check" not in {button.key for button in app.button}


def test_a_model_over_the_servers_limit_says_so() -> None:
    settings = services().settings
    small = type(settings)(**{**vars(settings), "max_parameters": 100})
    with other_services(settings=small, results=ResultCache(10**7)):
        forget_posed()
        app = working(open_demo("click"))
    assert "at most 100" in sentences(app)


def test_a_check_waits_for_its_turn_and_says_when_none_comes() -> None:
    app = without_error(open_demo("number"))
    app.text_input(key="answer_demo-number_0").set_value("2176")
    with other_services(turns=Turns(0, 0.2)):
        app = press(app, "exercise_check")
    assert "Many people are computing" in sentences(app)
    assert "_exercise_attempts" not in app.session_state
    assert SECRET not in everything(app)


def test_the_trained_encoder_is_the_apps_own() -> None:
    """Neither a second copy in memory nor a second reading of the file."""
    first = pose_variant("demo-trained", 0)
    assert pose_variant("demo-trained", 0) is first
    assert first.truth == pytest.approx(Variant(first.exercise, 0).truth, rel=1e-5)
    assert first.view.encoder is Variant(first.exercise, 1, serve_view).view.encoder


def test_an_answer_lies_in_the_session_and_not_in_the_link() -> None:
    app = press(open_demo("number"), "exercise_give_up")
    assert SECRET in prose(app)
    address = component_data(app, "address_guard")["parameters"]
    assert {key for key, texts in address.items() if texts} == {"exercises_key"}
    assert SECRET not in everything(open_demo("number"))


def test_pages_of_the_exercise_draw_their_own_state_and_the_sidebar_stays() -> None:
    app = press(open_demo("number", text="another", seed=9), "exercise_give_up")
    assert set(charts(app)) == {"parameter_breakdown"}
    total = sum(x for trace in charts(app)["parameter_breakdown"] for x in trace["x"])
    assert total == 4592
    assert app.session_state["text"] == "another"
    assert app.session_state["seed"] == 9


def test_settings_that_should_stay_are_named_and_ones_own_come_back() -> None:
    app = open_demo("settings", text="my own words", seed=5)
    app = press(app, "exercise_start")
    assert (app.session_state["d_model"], app.session_state["text"]) == (16, "a cat sat down here")
    app.session_state["d_model"] = 8
    app = press(working(app.run()), "exercise_check")
    assert "d_model" in sentences(app)
    assert SECRET not in everything(app)
    app.session_state["d_model"], app.session_state["n_layers"] = 16, 3
    app = press(working(app.run()), "exercise_check")
    assert "A layer more has parameters of its own" in sentences(app)
    app.session_state["n_layers"] = 1
    app = press(working(app.run()), "exercise_check")
    assert "3 tries" in answer(app)
    assert "`n_layers`: 2 → **1**" in prose(app)
    app = press(press(app, "exercise_list"), "exercise_back_to_settings")
    assert (app.session_state["text"], app.session_state["seed"], app.session_state["weights"]) == (
        "my own words",
        5,
        "minilm",
    )


def test_the_question_stands_on_the_page_where_it_is_worked_on() -> None:
    app = press(open_page("exercises", exercises_key="uniform-attention"), "exercise_start")
    question = "Make head 1 of layer 3 look evenly at all tokens"
    assert question in prose(app)
    assert question in sentences(without_error(app.switch_page("../../pages/what_if.py").run()))
    assert question not in sentences(app.switch_page("../../pages/norms.py").run())
    app = press(press(app.switch_page("../../pages/exercises.py").run(), "exercise_list"), "exercise_back_to_settings")
    assert question not in sentences(app.switch_page("../../pages/what_if.py").run())


def test_weights_that_no_exercise_knows_get_a_sentence() -> None:
    app = open_demo("settings", weights="mine", d_model=16, n_heads=2)
    app = press(app, "exercise_check")
    assert "minilm or random" in sentences(app)


def test_a_head_is_chosen_by_its_layer_and_its_number() -> None:
    app = press(open_demo("click"), "exercise_check")
    assert "Choose an answer" in sentences(app)
    for head, tries in ((1, "1 try"), (0, "2 tries")):
        app.button_group(key="answer_demo-click_0_layer").set_value(0)
        app.button_group(key="answer_demo-click_0_head").set_value(head)
        app = press(app, "exercise_check")
        assert tries in answer(app)
    assert set(charts(app)) == {"exercise_truth", "attention_pattern"}


def view_items(view: LinkedView, keys: tuple[str, ...]) -> list[Any]:
    from playground.link.query import needed_panels
    from playground.views.all_views import VIEWS

    page = VIEWS[view.page]
    return list(find_items(page.show(page.scene(view), {**view.values, **needed_panels(keys)}), keys))


def test_charts_are_found_inside_of_groups_columns_and_closed_panels_and_have_no_clicks() -> None:
    shape = "weights=random&tokenizer=word&d_model=16&n_heads=2&n_layers=2&d_ff=32"
    for page, key in (
        ("attention", "attention_pattern"),
        ("positions", "position_table"),
        ("parameters", "parameter_breakdown"),
        ("gradient-flow", "gradient_by_layer"),
    ):
        (item,) = view_items(open_link(f"{page}?{shape}&gradient_layers=2"), (key,))
        assert item.key == key
        assert item.click == ""
        assert "click" not in item.caption.lower()
        assert getattr(getattr(item, "rows", None), "place", "") == ""
