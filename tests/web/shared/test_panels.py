"""What every page shares: headings, runs, notices, the glossary, and how a page ends."""

import inspect
import re
from unittest.mock import Mock

import pytest

from playground.errors import BusyError, InputError
from playground.model.attention import attend
from playground.views import attention
from playground.web.session import caches
from playground.web.sidebar.controls import GLOSSARY
from tests.web.app_test import (
    PAGES,
    SMALL,
    captions,
    charts,
    choose,
    new_page,
    open_page,
    open_panels,
    sentences,
    values,
    without_error,
)


def test_the_code_behind_attention_is_the_running_source_and_its_numbers_can_be_read() -> None:
    app = open_panels(open_page("attention"), "attention_code", "attention_pattern_save_menu")
    assert inspect.getsource(attend).strip() in [code.value.strip() for code in app.code]
    assert "`playground.model.attention`" in captions(app)
    (numbers,) = app.dataframe
    assert numbers.value.shape == (16, 16), "one row a query"
    assert numbers.value.to_numpy().sum() == pytest.approx(16, abs=1e-3)


def test_what_cannot_be_run_is_one_sentence_in_which_no_strangers_words_act(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "run_sentence", Mock(side_effect=InputError("**x**:red[y] is no tensor")))
    app = open_page("attention")
    assert [error.value for error in app.error] == [r"\*\*x\*\*\:red\[y\] is no tensor"]
    assert not charts(app)


def test_padding_is_counted_beside_the_tokens() -> None:
    app = open_page("norms", text="short\nquite a bit longer than that")
    assert "3 tokens + 5 padding" in captions(app)


def test_a_page_says_that_the_trained_model_reads_english_only() -> None:
    text = "動物は道を渡らなかった"
    assert sentences(open_page("attention", text=text)).count("English only") == 1
    assert "English only" not in sentences(open_page("attention", **SMALL, text=text))
    assert "English only" not in sentences(open_page("attention", text="Zoë drank coffee in a café in São Paulo."))


@pytest.mark.parametrize(
    ("changes", "kept", "reason"),
    [
        ({}, 256, "no more than 256 tokens"),
        ({"weights": "random", "max_len": 16, "tokenizer": "word"}, 16, "its `max_len` is 16"),
    ],
)
def test_a_cut_sentence_says_whose_limit_has_cut_it(changes: dict[str, object], kept: int, reason: str) -> None:
    told = sentences(open_page("norms", text="and the " * 200, **changes))
    assert f"cut after {kept} tokens" in told
    assert reason in told


RUN_A_SENTENCE = (
    "overview", "attention", "norms", "compare", "positions", "step_by_step", "encoder_decoder", "gradient_flow",
    "what_if", "diagnosis",
)  # fmt: skip
NEEDED = {
    "encoder_decoder": {"encdec_source": "your text"},
    "compare": {"pinned": "true"},
    "what_if": {"do": "0.0:zero"},
    "training": {"d_model": "32", "n_heads": "2", "d_ff": "64"},  # else it would take too long here
    "gradient_flow": {"gradient_layers": "3"},  # else twelve, at each look
}
"""What a page's link has to say for the page to show a run of the text, or to show it soon."""


@pytest.mark.sweep
@pytest.mark.parametrize("page", PAGES)
def test_without_a_text_a_page_asks_for_one_and_its_sidebar_keeps_its_values(page: str) -> None:
    link = {"n_layers": 3, "norm": "rms", "max_len": 64, "tokenizer": "char"}
    app = open_page(page, weights="random", **link, **NEEDED.get(page, {}))
    shown = charts(app).keys()
    assert values(without_error(choose(app, text="")), *link) == link
    asks_for_one = page in RUN_A_SENTENCE
    assert (len(app.info), charts(app).keys()) == (asks_for_one, set() if asks_for_one else shown)
    assert values(without_error(choose(app, text="and back")), *link) == link
    assert not app.info


def test_a_fragment_that_ends_early_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "shrink", Mock(side_effect=BusyError("Too many at once.")))
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


def test_every_term_is_explained_once_and_in_alphabetical_order() -> None:
    terms = re.findall(r"^\*\*(.+?)\*\*: ", GLOSSARY, re.MULTILINE)
    assert len(terms) == len(GLOSSARY.split("\n\n"))
    assert terms == sorted(set(terms), key=str.lower)
