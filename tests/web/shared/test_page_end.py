"""A page that ends early ends alone: the sidebar stays whole, and nothing that was chosen is lost."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import BusyError
from playground.web.session import caches
from tests.web.app_test import charts, open_page, sentences

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def in_the_expanders(app: AppTest) -> dict[str, object]:
    sliders = {slider.key: slider.value for slider in app.sidebar.select_slider}
    words = {control.key: control.value for control in app.sidebar.segmented_control}
    return {key: {**sliders, **words}[key] for key in ("n_layers", "d_ff", "norm", "tokenizer", "max_len")}


def set_text(app: AppTest, text: str) -> AppTest:
    app.sidebar.text_area(key="text").set_value(text).run()
    assert not app.exception
    return app


@pytest.mark.parametrize("page", PAGES)
def test_without_a_text_the_sidebar_is_whole_and_keeps_its_values(page: str) -> None:
    app = open_page(page, weights="random", n_layers="3", norm="rms", max_len="64", tokenizer="char")
    before = in_the_expanders(app)
    assert (before["n_layers"], before["norm"], before["max_len"]) == (3, "rms", 64)
    assert in_the_expanders(set_text(app, "")) == before
    assert in_the_expanders(set_text(app, "and back")) == before


def busy(*_: object) -> None:
    raise BusyError("Too many at once.")


def test_a_fragment_that_ends_early_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "head_grid", busy)
    app = open_page("attention", weights="random", n_layers="2", max_len="64")
    assert not app.exception
    assert sentences(app) == "Too many at once."
    assert "attention_pattern" in charts(app), "what was drawn before"
    assert "The code behind this" in [panel.label for panel in app.expander], "what comes after the fragment"
    assert in_the_expanders(app)["n_layers"] == 2


def test_a_page_that_breaks_leaves_the_sidebar(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(caches, "run_sentence", broken)
    app = open_page("attention", weights="random", n_layers="2", max_len="64")
    assert app.exception
    assert in_the_expanders(app)["n_layers"] == 2
