"""Moments and the lab of a page: what link, session and network make of the visitor's choices."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.link import state
from playground.link.lab import Lab
from playground.link.params import SHARED
from playground.link.state import RANDOM, State, WeightsId
from playground.text import Sentences, split_sentences
from playground.web.choices import setup
from playground.web.session.caches import APP
from playground.web.session.services import this_session
from tests.web.app_test import SMALL, choose, open_page, press

VALUES: dict[str, Any] = {key: param.default for key, param in SHARED.items()} | {"weights": "random", "n_layers": 2}


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that labs have split by now."""
    texts: list[str] = []

    def split(text: str) -> Sentences:
        texts.append(text)
        return split_sentences(text)

    monkeypatch.setattr(state, "split_sentences", split)
    return texts


def script() -> None:
    """A page whose fragment and callback ask for the lab, as pages do, and whose button makes changes in its run."""
    import streamlit as st

    from playground.link.kinds import read_changes
    from playground.web.choices import widgets
    from playground.web.choices.open_page import open_page
    from playground.web.choices.setup import current_setup

    def read_in_callback() -> None:
        st.session_state["in_callback"] = current_setup()

    @st.fragment
    def fragment() -> None:
        widgets.whole("norms_norm", high=5)
        st.session_state["in_fragment"] = current_setup()

    open_page("norms")
    st.session_state["before_widgets"] = current_setup()
    widgets.text("text", height=110)
    widgets.choice("weights", on_change=read_in_callback)
    widgets.number("seed")
    st.session_state["after_widgets"] = current_setup()
    fragment()
    if st.button("change", key="change"):
        st.session_state["do"] = read_changes("3.1:zero")[0]
        st.session_state["changed"] = str(current_setup()["do"])


def labs(app: AppTest) -> list[Lab]:
    return [app.session_state[key] for key in ("before_widgets", "after_widgets", "in_fragment")]


def test_a_run_and_its_fragment_share_one_lab() -> None:
    app = AppTest.from_function(script).run()
    first, *others = labs(app)
    assert all(other is first for other in others)
    app.number_input(key="seed").set_value(3).run()
    second, *others = labs(app)
    assert (first["seed"], second["seed"]) == (0, 3)
    assert all(other is second for other in others)
    app.segmented_control(key="weights").set_value("random").run()
    assert app.session_state["in_callback"]["weights"] == app.session_state["after_widgets"].weights == "random"
    app.button(key="change").click().run()
    assert app.session_state["changed"] == "3.1:zero", "what a page changes in its own run"


@pytest.mark.parametrize("page", ["overview", "attention", "parameters"])
def test_a_page_splits_its_text_once(page: str, splits: list[str]) -> None:
    app = open_page(page, **SMALL, text="one\ntwo")
    assert splits == ["one\ntwo"]
    choose(app, n_layers=3)
    assert splits == ["one\ntwo"] * 2


def test_derived_values_are_computed_once_for_a_lab(splits: list[str]) -> None:
    one = Lab(State(VALUES, RANDOM), APP)
    assert one.config is one.config
    assert one.run_key == (one.text_key, 0, "random", one.config, 0, False, ())
    assert splits == [VALUES["text"]]
    assert one == Lab(State(dict(VALUES), RANDOM), APP)
    assert one != Lab(State(VALUES, WeightsId("initial-1", this_session())), APP)


def drawn_otherwise() -> None:
    """A page on which a choice is drawn as another widget after a press, which chooses too."""
    import streamlit as st

    from playground.web.choices import open_page, widgets

    open_page.open_page("norms")
    widgets.choice("weights")
    if "chosen" in st.session_state:
        widgets.menu("positions", "positions")
        widgets.whole("norms_norm", high=3)
    else:
        widgets.choice("positions")
        widgets.whole("norms_norm", high=5)
    st.button("go", key="go", on_click=lambda: st.session_state.update(positions="rotary", chosen=1))


def test_a_widget_that_is_drawn_as_another_kind_keeps_what_was_chosen() -> None:
    app = AppTest.from_function(drawn_otherwise)
    app.query_params.update(weights="random", positions="alibi", norms_norm="2")
    assert app.run().session_state["positions"] == "alibi"
    press(app, "go")
    for _ in range(2):
        assert app.selectbox(key="positions").value == app.session_state["positions"] == "rotary"
        assert app.slider(key="norms_norm").value == 2
        app.run()


def test_the_last_fifty_moments_are_kept_and_one_run_makes_one() -> None:
    app = open_page("norms", **SMALL)
    for seed in range(1, 4):
        choose(app, seed=seed)
    assert [each.values["seed"] for each in app.session_state[setup.CHOICES].moments] == [0, 1, 2, 3]
    app.session_state[setup.CHOICES].moments *= 20
    assert len(choose(app, seed=9).session_state[setup.CHOICES].moments) == setup.LONGEST
