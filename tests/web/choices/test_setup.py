"""The setup of a page: what link, session and network make of it, old links included."""

from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.link import state
from playground.link.lab import Lab
from playground.link.params import SHARED, page_parameters
from playground.link.query import VERSION, LinkReading
from playground.link.state import RANDOM, State, WeightsId, is_random
from playground.text import Sentences, split_sentences
from playground.web.choices import setup
from playground.web.choices.open_page import restore_page_values, write_back
from playground.web.choices.setup import setup_of
from playground.web.session.caches import APP
from playground.web.session.result_cache import this_session
from tests.web.app_test import SMALL, open_page, sentences

VALUES: dict[str, Any] = {key: param.default for key, param in SHARED.items()} | {"weights": "random", "n_layers": 2}


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that setups have split by now."""
    texts: list[str] = []

    def split(text: str) -> Sentences:
        texts.append(text)
        return split_sentences(text)

    monkeypatch.setattr(state, "split_sentences", split)
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
        widgets.whole("norms_norm", high=5)
        st.session_state["in_fragment"] = current_setup()

    open_page("attention")
    st.session_state["before_widgets"] = current_setup()
    widgets.text("text", height=110)
    widgets.choice("weights", on_change=read_in_callback)
    widgets.number("seed")
    st.session_state["after_widgets"] = current_setup()
    fragment()


def setups(app: AppTest) -> list[Lab]:
    return [app.session_state[key] for key in ("before_widgets", "after_widgets", "in_fragment")]


def test_a_run_and_its_fragment_share_one_setup_until_a_choice_changes() -> None:
    app = AppTest.from_function(script).run()
    first, *others = setups(app)
    assert all(other is first for other in others)
    app.slider(key="norms_norm").set_value(2).run()
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
    app, read = open_page(page, **SMALL), []

    def count(values: Mapping[str, Any]) -> Lab:
        read.append(dict(values))
        return setup_of(values)

    monkeypatch.setattr(setup, "setup_of", count)
    app.select_slider(key="n_layers").set_value(3).run()
    assert [values["n_layers"] for values in read] == [3]


@pytest.mark.parametrize("page", ["overview", "attention", "parameters"])
def test_a_page_splits_its_text_once(page: str, splits: list[str]) -> None:
    app = open_page(page, **SMALL, text="one\ntwo")
    assert splits == ["one\ntwo"]
    app.select_slider(key="n_layers").set_value(3).run()
    assert not app.exception
    assert splits == ["one\ntwo"] * 2


def test_derived_values_are_computed_once_for_a_setup(splits: list[str]) -> None:
    one = Lab(State(VALUES, RANDOM), APP)
    assert one.config is one.config
    assert one.run_key == (one.text_key, 0, "random", one.config, 0, False, ())
    assert splits == [VALUES["text"]]
    assert one == Lab(State(dict(VALUES), RANDOM), APP)
    assert one != Lab(State(VALUES, WeightsId("initial-1", this_session())), APP)


def test_weights_before_training_are_random_and_trained_ones_are_not() -> None:
    assert [is_random(weights) for weights in ("random", "initial-1", "minilm", "trained-1")] == [
        True, True, False, False,
    ]  # fmt: skip


AT_FIRST: dict[str, Any] = {key: param.default for key, param in SHARED.items()}


class RerunError(Exception):
    """What `st.rerun` does to a script."""


class Browser(SimpleNamespace):
    """What a page reads and writes of Streamlit, without a server: the session and the address."""

    class Address(dict[str, list[str]]):
        get_all = dict.__getitem__

        def from_dict(self, texts: dict[str, list[str]]) -> None:
            self.clear()
            self.update(texts)

    def __init__(self, monkeypatch: pytest.MonkeyPatch, session: dict[str, Any], **address: list[str]) -> None:
        super().__init__(session_state=session, query_params=self.Address(address))
        monkeypatch.setattr("playground.web.choices.open_page.st", self)

    def rerun(self) -> None:
        raise RerunError


# --- writing back


@pytest.mark.parametrize(
    ("session", "settled", "written"),
    [
        ({}, {}, {}),
        ({"n_heads": 12}, {"n_heads": 16}, {"n_heads": 16}),
        ({}, {"d_ff": 13}, {"d_ff": 13}),  # between the slider's stops: a link could not say it
    ],
)
def test_a_widget_takes_its_settled_value_and_the_link_stays(
    session: dict[str, Any], settled: dict[str, Any], written: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(monkeypatch, session, seed=["3"])
    values = AT_FIRST | {"seed": 3}
    write_back(LinkReading({"seed": 3}, [], is_exact=True), values, values | settled)
    assert (browser.session_state, browser.query_params) == (written, {"seed": ["3"]})


def test_without_a_widget_the_link_takes_it_and_the_script_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(monkeypatch, {}, v=["0"], d_model=["512"], norms_norm=["4"], utm=["x"])
    reading = LinkReading({"d_model": 512, "norms_norm": 4}, [], is_exact=False)
    with pytest.raises(RerunError):
        write_back(reading, AT_FIRST | {"d_model": 512}, AT_FIRST | {"d_model": 512, "n_heads": 16})
    assert browser.session_state == {}
    assert browser.query_params == {"utm": ["x"], "d_model": ["512"], "n_heads": ["16"], "norms_norm": ["4"]}


# --- a step back in the browser's history


@pytest.mark.parametrize(
    ("arrived", "is_step_back", "address"),
    [(True, True, ["5"]), (True, False, None), (False, True, None)],
)
def test_a_step_back_to_a_page_brings_its_values_back_into_the_link(
    arrived: bool, is_step_back: bool, address: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = {"norms_norm": 5, "positions_first": 2}
    browser = Browser(monkeypatch, session)
    context = SimpleNamespace(is_history_navigation=is_step_back)
    monkeypatch.setattr("playground.web.choices.open_page.get_script_run_ctx", lambda: context)
    with pytest.raises(RerunError) if address else nullcontext():
        restore_page_values("norms", arrived=arrived)
    assert browser.query_params == ({"norms_norm": address} if address else {})


def test_a_pages_parameters_start_with_its_name() -> None:
    assert {"step_path", "step_stage"} <= set(page_parameters("step-by-step"))
    assert "overview_batch" in page_parameters("")


@pytest.mark.sweep
@pytest.mark.parametrize("link", [{"v": VERSION}, {}])
def test_a_link_of_this_version_or_from_the_address_bar_says_nothing(link: dict[str, str]) -> None:
    assert sentences(open_page("attention", seed="7", **SMALL, **link)) == ""


def test_a_link_of_an_unknown_version_says_that_it_may_look_different() -> None:
    said = sentences(open_page("attention", v="3", seed="7", **SMALL))
    assert "another version" in said
