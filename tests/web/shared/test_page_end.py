"""A page that ends early ends alone: the sidebar stays whole, and nothing that was chosen is lost."""

from unittest.mock import Mock

import pytest

from playground.errors import BusyError
from playground.web.session import caches
from tests.web.app_test import PAGES, charts, choose, new_page, open_page, sentences, values, without_error

RUN_A_SENTENCE = (
    "overview", "attention", "norms", "compare", "positions", "step_by_step", "encoder_decoder", "gradient_flow",
    "what_if",
)  # fmt: skip
NEEDED = {
    "encoder_decoder": {"encdec_source": "your text"},
    "compare": {"pinned": "true"},
    "what_if": {"do": "0.0:zero"},
    "gradient_flow": {"gradient_layers": "3"},  # else a sweep over twelve depths, at each look
}
"""What a page's link has to say for the page to show a run of the text, or to show it soon."""
IN_THE_EXPANDERS = ("n_layers", "d_ff", "norm", "tokenizer", "max_len")


@pytest.mark.parametrize("page", PAGES)
def test_without_a_text_a_page_asks_for_one_and_its_sidebar_is_whole_and_keeps_its_values(page: str) -> None:
    needed = NEEDED.get(page, {})
    app = open_page(page, weights="random", n_layers=3, norm="rms", max_len=64, tokenizer="char", **needed)
    before = values(app, *IN_THE_EXPANDERS)
    assert before == {"n_layers": 3, "d_ff": before["d_ff"], "norm": "rms", "tokenizer": "char", "max_len": 64}
    for text in ("" if PAGES.index(page) % 2 else "  \n \n", "and back"):
        assert values(without_error(choose(app, text=text)), *IN_THE_EXPANDERS) == before
        asks_for_one = page in RUN_A_SENTENCE and not text.strip()
        assert (len(app.info), bool(charts(app))) == (asks_for_one, not asks_for_one)
        assert [panel.label for panel in app.sidebar.expander].count("Glossary") == 1


def test_a_fragment_that_ends_early_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "thumbnails", Mock(side_effect=BusyError("Too many at once.")))
    app = open_page("attention", weights="random", n_layers="2", max_len="64")
    assert sentences(app) == "Too many at once."
    assert "attention_pattern" in charts(app), "what was drawn before"
    assert "The code behind this" in [panel.label for panel in app.expander], "what comes after the fragment"
    assert values(app)["n_layers"] == 2


def test_a_page_that_breaks_leaves_the_sidebar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "run_sentence", Mock(side_effect=RuntimeError))
    app = new_page("attention", weights="random", n_layers="2", max_len="64").run()
    assert len(app.exception) == 1, "it goes to the log; what a visitor reads is streamlit_app.py's sentence"
    assert not app.error, "a programming error is no advice"
    assert values(app)["n_layers"] == 2
