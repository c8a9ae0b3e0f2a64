"""Numbers grow part by part: short ones unasked, others by a press, once for all who look."""

import threading
import time
from itertools import count

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import BusyError
from playground.runs.arrays import Array
from playground.web.session.services import other_services
from playground.web.session.turns import Turns
from playground.web.views.what_if import measuring
from playground.web.views.what_if.measuring import MOST_TOGETHER, Rows, cut, empty_numbers
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


def doubled(rows: Rows) -> Array:
    return 2 * np.array(rows, np.float32)[:, None]


def refuse(rows: Rows) -> Array:
    pytest.fail(f"{rows} are measured again")


def test_each_step_measures_a_part_or_as_many_as_fit_into_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0, 1)  # a second passes between any two looks at it
    monkeypatch.setattr(measuring, "monotonic", lambda: float(next(clock)))
    growing = empty_numbers([(0, 1), (2,), (3, 4)], 1)
    assert (growing.n_measured, growing.seconds_left) == (0, float("inf"))
    growing.advance(doubled, 0)
    np.testing.assert_array_equal(growing.numbers[:, 0], [0, 2, np.nan, np.nan, np.nan])
    assert (growing.n_measured, growing.seconds, growing.seconds_left) == (2, 1, 1.5)
    growing.advance(doubled, 100)
    assert growing.is_complete
    assert (growing.numbers[:, 0] == [0, 2, 4, 6, 8]).all()
    assert growing.seconds_left == 0
    growing.advance(refuse, 1)


def test_what_was_measured_stays_where_a_part_fails() -> None:
    growing = empty_numbers([(0,), (1,)], 1)

    def refuse_second(rows: Rows) -> Array:
        if rows == (1,):
            raise BusyError("Many people are computing right now.")
        return doubled(rows)

    with pytest.raises(BusyError):
        growing.advance(refuse_second, 100)
    assert growing.n_done == 1
    assert not growing.lock.locked()
    growing.advance(doubled, 100)
    assert growing.is_complete


def test_nobody_waits_while_somebody_else_measures_and_takes_what_is_there() -> None:
    growing = empty_numbers([(i,) for i in range(5)], 1)
    is_measuring, may_go_on = threading.Event(), threading.Event()
    measured: list[int] = []

    def measure(rows: Rows) -> Array:
        measured.extend(rows)
        if rows == (2,):
            is_measuring.set()
            assert may_go_on.wait(60)
        return doubled(rows)

    first = threading.Thread(target=growing.advance, args=(measure, float("inf")))
    first.start()
    assert is_measuring.wait(60)
    others = [threading.Thread(target=growing.advance, args=(measure, float("inf"))) for _ in range(12)]
    for other in others:
        other.start()
    deadline = time.monotonic() + 20
    for other in others:
        other.join(max(0, deadline - time.monotonic()))
    waiting, seen = [other.is_alive() for other in others], growing.numbers[:, 0].copy()
    may_go_on.set()
    for thread in (first, *others):
        thread.join(60)
    assert not any(waiting)
    np.testing.assert_array_equal(seen, [0, 2, np.nan, np.nan, np.nan])
    assert measured == list(range(5)), "each part once"
    assert growing.is_complete
    growing.advance(refuse, 1)


def test_rows_are_cut_small() -> None:
    assert empty_numbers([], 3).is_complete
    assert cut(range(3, 8), 2) == [(3, 4), (5, 6), (7,)]
    assert [len(part) for part in cut(range(60), 1_000)] == [MOST_TOGETHER, MOST_TOGETHER, 60 - 2 * MOST_TOGETHER]


TEXT = "a sentence of its own"
PAIRS = {"whatif_parts": "pairs of one head", "layer": 1, "head": 1}


@pytest.fixture
def never_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "BY_ITSELF", -1.0)
    monkeypatch.setattr(measuring, "SLICE", 0.0)
    monkeypatch.setattr(measuring, "MOST_TOGETHER", 20)


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
        assert progress(working(app.run())).startswith("20 of 441 runs. The rest takes about ")
    assert not component_data(app, "ask_again")
    press(app, "whatif_effects_measure")
    assert component_data(app, "ask_again")
    assert n_measured(app) == 40
    assert n_measured(working(app.run())) == 60
    monkeypatch.setattr(measuring, "BY_ITSELF", 1e9)
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


def test_where_no_turn_comes_free_one_sentence_says_so() -> None:
    app = open_pairs(104)
    with other_services(turns=Turns(1, 0.01)) as busy, busy.turns.take():
        choose(app, whatif_parts="hidden tokens")
        assert "Many people are computing right now" in sentences(app)
        assert "hidden_tokens" not in charts(app)
    assert "hidden_tokens" in charts(without_error(app.run()))
