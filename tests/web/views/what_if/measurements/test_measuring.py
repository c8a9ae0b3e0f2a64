"""A measurement begins by itself where it is short, else by a press, and rests where the settings change."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.web.session.services import other_services
from playground.web.session.turns import Turns
from playground.web.views.what_if import measurements
from playground.web.views.what_if.measurements import GrowingNumbers
from tests.web.app_test import (
    SMALL,
    array,
    charts,
    choose,
    component_data,
    open_page,
    press,
    sentences,
    without_error,
    working,
)
from tests.web.views.what_if.what_if_page import PARTS, progress

TEXT = "a sentence of its own"
PAIRS = {"whatif_parts": "pairs of one head", "layer": 1, "head": 1}


@pytest.fixture
def never_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "BY_ITSELF", -1.0)
    monkeypatch.setattr(measurements, "SLICE", 0.0)
    monkeypatch.setattr(measurements, "MOST_TOGETHER", 20)


def open_pairs(seed: int) -> AppTest:
    """The pairs of a head of weights that no other test has, so that nothing of it is measured yet."""
    return open_page("what_if", whatif_view=PARTS, text=TEXT, seed=seed, **SMALL, **PAIRS)


def n_measured(app: AppTest) -> int:
    return int(np.isfinite(array(charts(app)["pair_effects"])).sum())


@pytest.mark.usefixtures("never_short")
def test_one_part_is_measured_unasked_and_the_rest_after_a_press(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_pairs(101)
    for _ in range(2):
        assert n_measured(app) == 20
        assert progress(working(app.run())).startswith("20 of 441 variants of the run. The rest takes about ")
    assert not component_data(app, "ask_again")
    press(app, "whatif_effects_measure")
    assert component_data(app, "ask_again")
    assert n_measured(app) == 40
    assert n_measured(working(app.run())) == 60
    monkeypatch.setattr(measurements, "BY_ITSELF", 1e9)
    press(app, "whatif_effects_stop")
    assert n_measured(app) == 60, "what was stopped does not go on by itself, however little is left"
    assert not component_data(app, "ask_again")
    assert n_measured(working(app.run())) == 60
    assert n_measured(press(app, "whatif_effects_measure")) == 80


@pytest.mark.usefixtures("never_short")
def test_another_head_has_to_be_asked_for_anew_and_what_was_measured_stays() -> None:
    app = press(open_pairs(102), "whatif_effects_measure")
    assert n_measured(app) == 40
    choose(app, head=2)
    assert n_measured(app) == 20
    assert not component_data(app, "ask_again")
    choose(app, head=1)
    assert n_measured(app) == 60
    other = open_pairs(102)
    assert n_measured(other) == 60, "another visitor sees what is measured"
    assert not component_data(other, "ask_again"), "and has not asked for more"


def test_what_is_short_needs_no_press() -> None:
    app = open_pairs(103)
    while not progress(app).startswith("Done"):
        assert component_data(app, "ask_again")
        working(app.run())
    assert app.button(key="whatif_effects_measure").disabled
    assert not component_data(app, "ask_again")


def test_where_no_turn_comes_free_one_sentence_says_so() -> None:
    app = open_pairs(104)
    with other_services(turns=Turns(1, 0.01)) as busy, busy.turns.take():
        choose(app, whatif_parts="hidden tokens")
        assert "Many people are computing right now" in sentences(app)
        assert "hidden_tokens" not in charts(app)
    assert "hidden_tokens" in charts(without_error(app.run()))


@pytest.mark.usefixtures("never_short")
def test_who_finds_the_first_part_being_measured_looks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(GrowingNumbers, "advance", lambda *_: None)  # as while somebody else measures
        app = open_pairs(105)
        assert n_measured(app) == 0
        assert component_data(app, "ask_again")
    assert n_measured(working(app.run())) == 20
