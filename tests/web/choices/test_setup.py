"""Moments and the lab of a page: what link, session and network make of the visitor's choices."""

from typing import Any

from streamlit.testing.v1 import AppTest

from playground.link.params import SHARED
from playground.web.choices import setup
from tests.web.app_test import SMALL, choose, open_page, press

VALUES: dict[str, Any] = {key: param.default for key, param in SHARED.items()} | {"weights": "random", "n_layers": 2}


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
