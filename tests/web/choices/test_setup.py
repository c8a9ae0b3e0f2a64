"""One setup for everybody: built once, never behind the choices, in the script, its fragments and callbacks."""

from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import SHARED
from playground.text import Sentences, split_sentences
from playground.web.choices import setup
from playground.web.choices.setup import Setup, is_random, setup_of
from playground.web.session.weights_cache import RANDOM, WeightsId, this_session
from tests.web.app_test import open_page

VALUES: dict[str, Any] = {key: param.default for key, param in SHARED.items()} | {"weights": "random", "n_layers": 2}


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that setups have split by now."""
    texts: list[str] = []

    def split(text: str) -> Sentences:
        texts.append(text)
        return split_sentences(text)

    monkeypatch.setattr(setup, "split_sentences", split)
    return texts


def script() -> None:
    """A page whose fragment and callback ask for the setup, as pages do."""
    import streamlit as st

    from playground.web.choices import widgets
    from playground.web.choices.open_page import open_page
    from playground.web.choices.setup import current_setup

    def read_in_callback() -> None:
        st.session_state["in_callback"] = current_setup()

    @st.fragment
    def fragment() -> None:
        widgets.whole("attention_other", high=5)
        st.session_state["in_fragment"] = current_setup()

    open_page("attention")
    st.session_state["before_widgets"] = current_setup()
    widgets.text("text", height=110)
    widgets.choice("weights", on_change=read_in_callback)
    widgets.number("seed")
    st.session_state["after_widgets"] = current_setup()
    fragment()


def setups(app: AppTest) -> list[Setup]:
    return [app.session_state[key] for key in ("before_widgets", "after_widgets", "in_fragment")]


def test_a_run_and_its_fragment_share_one_setup_until_a_choice_changes() -> None:
    app = AppTest.from_function(script).run()
    first, *others = setups(app)
    assert all(other is first for other in others)
    app.slider(key="attention_other").set_value(2).run()
    assert all(one is first for one in setups(app)), "the page's own parameters are not in it"
    app.number_input(key="seed").set_value(3).run()
    second, *others = setups(app)
    assert (first["seed"], second["seed"]) == (0, 3)
    assert all(other is second for other in others)


def test_a_callback_reads_the_choice_that_called_it() -> None:
    app = AppTest.from_function(script).run()
    app.segmented_control(key="weights").set_value("random").run()
    assert app.session_state["in_callback"]["weights"] == "random"
    assert app.session_state["after_widgets"].weights == "random"


def test_a_fragment_reads_a_choice_that_was_made_since_the_last_whole_run() -> None:
    app = AppTest.from_function(script).run()
    app.session_state["seed"] = 9
    app.run()
    assert [one["seed"] for one in setups(app)] == [9, 9, 9]


def change_while_drawing() -> None:
    """A page whose button changes the computation twice in its own run, as those of What if do."""
    import streamlit as st

    from playground.link import query
    from playground.web.choices.open_page import open_page
    from playground.web.choices.setup import current_setup

    open_page("attention")
    seen = []
    for text in ("", "3.1:zero", "3.1:zero,2.0:mean"):
        st.session_state["do"] = query.read("do", [text])[0]
        seen.append(str(current_setup()["do"]))
    st.session_state["seen"] = seen


def test_a_change_of_the_computation_is_seen_in_the_run_that_makes_it() -> None:
    app = AppTest.from_function(change_while_drawing).run()
    assert app.session_state["seen"] == ["", "3.1:zero", "3.1:zero,2.0:mean"]


@pytest.mark.parametrize("page", ["overview", "attention", "norms", "what_if"])
def test_a_run_of_a_page_reads_each_choice_once(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app, read = open_page(page), []

    def count(values: Mapping[str, Any]) -> Setup:
        read.append(dict(values))
        return setup_of(values)

    monkeypatch.setattr(setup, "setup_of", count)
    app.number_input(key="seed").set_value(3).run()
    assert [values["seed"] for values in read] == [3]


@pytest.mark.parametrize("page", ["overview", "attention", "parameters"])
def test_a_page_splits_its_text_once(page: str, splits: list[str]) -> None:
    app = open_page(page, weights="random", text="one\ntwo")
    assert splits == ["one\ntwo"]
    app.number_input(key="seed").set_value(3).run()
    assert not app.exception
    assert splits == ["one\ntwo"] * 2


def test_derived_values_are_computed_once_for_a_setup(splits: list[str]) -> None:
    one = Setup(VALUES, RANDOM)
    assert one.config is one.config
    assert one.run_key == (one.text_key, 0, "random", one.config, 0, False, ())
    assert splits == [VALUES["text"]]
    assert one == Setup(dict(VALUES), RANDOM)
    assert one != Setup(VALUES, WeightsId("initial-1", this_session()))


def test_weights_before_training_are_random_and_trained_ones_are_not() -> None:
    assert [is_random(weights) for weights in ("random", "initial-1", "minilm", "trained-1")] == [
        True, True, False, False,
    ]  # fmt: skip
