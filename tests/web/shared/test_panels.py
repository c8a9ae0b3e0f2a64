"""What every page shares: charts with captions and text for screen readers, tables, and the running source."""

import inspect

import pytest

from playground.errors import InputError, TooLargeError
from playground.model.attention import attend
from playground.web.session import caches
from playground.web.session.turns import Turns
from tests.web.app_test import captions, charts, open_page, sentences

PAGES = ("overview", "attention", "norms", "parameters")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_asks_one_question_and_draws_charts_with_alt_text(page: str) -> None:
    app = open_page(page)
    assert not app.exception
    (title,) = app.title
    assert title.value.endswith("?")
    assert charts(app)
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))


@pytest.mark.parametrize("page", PAGES)
def test_the_code_behind_a_page_is_read_only_when_it_is_opened(page: str) -> None:
    app = open_page(page)
    labels = [panel.label for panel in app.expander]
    assert "The code behind this" in labels
    assert not app.code


def test_the_code_behind_attention_is_the_running_source() -> None:
    app = open_page("attention")
    app.session_state["attention_code"] = True
    app.run()
    assert not app.exception
    assert inspect.getsource(attend).strip() in [code.value.strip() for code in app.code]
    assert "`playground.model.attention`" in captions(app)


def test_numbers_are_there_when_their_table_is_opened() -> None:
    app = open_page("attention")
    assert not app.dataframe
    app.session_state["attention_pattern_open"] = True
    app.run()
    assert not app.exception
    (table,) = app.dataframe
    assert table.value.shape == (16, 16)
    assert table.value.to_numpy().sum() == pytest.approx(16, abs=1e-3)


def test_several_notices_are_a_list_and_one_is_a_sentence() -> None:
    one = open_page(n_layers="junk")
    assert sentences(one).startswith("The link's n_layers=")
    several = open_page(n_layers="junk", d_ff="junk", seed="junk")
    assert several.info[0].value.count("\n- ") == 2


@pytest.mark.parametrize("error", [TooLargeError("Too large to run here."), InputError("Too long a sentence.")])
def test_what_cannot_be_run_is_one_sentence(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(caches, "run_sentence", refuse)
    app = open_page("attention")
    assert not app.exception
    assert sentences(app) == str(error)
    assert not charts(app)


def test_an_error_that_quotes_a_strangers_words_shows_them_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise InputError("**x**:red[y] is not a tensor.")

    monkeypatch.setattr(caches, "run_sentence", refuse)
    (error,) = open_page("attention").error
    assert error.value == r"\*\*x\*\*\:red\[y\] is not a tensor\."


def test_a_programming_error_is_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(caches, "run_sentence", fail)
    app = open_page("attention")
    assert len(app.exception) == 1, "it goes to the log; what a visitor reads is streamlit_app.py's sentence"
    assert not app.error


def test_a_busy_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "TURNS", Turns(n=1, timeout=0.01))
    with caches.TURNS.take():
        app = open_page("attention", text="a sentence that nobody has run before")
    assert not app.exception
    assert "Many people are computing right now" in app.error[0].value


def test_padding_is_counted_beside_the_tokens() -> None:
    app = open_page("norms", text="short\nquite a bit longer than that")
    assert "3 tokens + 5 padding" in captions(app)


def test_changed_text_is_told() -> None:
    app = open_page(text="bell\x07")
    assert "Control characters were replaced by spaces." in sentences(app)
