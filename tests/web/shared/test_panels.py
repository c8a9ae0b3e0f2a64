"""What every page shares: charts with captions and text for screen readers, tables, and the running source."""

import inspect
from unittest.mock import Mock

import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import InputError, TooLargeError
from playground.model.attention import attend
from playground.web.session import caches
from playground.web.session.services import other_services
from playground.web.session.turns import Turns
from tests.web.app_test import captions, charts, open_page, open_panels, sentences, working


@pytest.mark.parametrize("page", ["overview", "attention", "norms", "parameters"])
def test_a_page_asks_one_question_draws_charts_with_alt_text_and_opens_no_code(page: str) -> None:
    app = open_page(page)
    (title,) = app.title
    assert title.value.endswith("?")
    assert charts(app)
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))
    assert "The code behind this" in [panel.label for panel in app.expander]
    assert not app.code


def test_the_code_behind_attention_is_the_running_source_and_its_numbers_can_be_read() -> None:
    app = open_panels(open_page("attention"), "attention_code", "attention_pattern_open")
    assert inspect.getsource(attend).strip() in [code.value.strip() for code in app.code]
    assert "`playground.model.attention`" in captions(app)
    (numbers,) = app.dataframe
    assert numbers.value.shape == (16, 16), "one row a query"
    assert numbers.value.to_numpy().sum() == pytest.approx(16, abs=1e-3)


def script() -> None:
    """A chart with its numbers."""
    import pandas as pd
    import plotly.graph_objects as go

    from playground.web.shared import panels

    panels.chart("bars", go.Figure(), caption="How to read it.", alt="bars", table=lambda: pd.DataFrame({"a": [1, 2]}))


def test_a_charts_numbers_are_there_when_their_table_is_opened() -> None:
    app = working(AppTest.from_function(script).run())
    assert (list(charts(app)), captions(app), len(app.dataframe)) == (["bars"], "How to read it.", 0)
    app.session_state["bars_open"] = True
    (table,) = working(app.run()).dataframe
    assert table.value["a"].tolist() == [1, 2]


def noted() -> None:
    """A chart whose figure has a note."""
    import plotly.graph_objects as go

    from playground.web.shared import panels

    panels.chart("bars", go.Figure(layout={"meta": "All are equal."}), caption="How to read it.", alt="bars")


def test_a_figures_note_follows_the_caption() -> None:
    assert captions(working(AppTest.from_function(noted).run())) == "How to read it. All are equal."


def test_several_notices_are_a_list_and_one_is_a_sentence() -> None:
    assert sentences(open_page(n_layers="junk")).startswith("The link's n_layers=")
    several = open_page(n_layers="junk", d_ff="junk", seed="junk")
    assert several.info[0].value.count("\n- ") == 2


@pytest.mark.parametrize(
    ("problem", "shown"),
    [
        (TooLargeError("Too large to run here."), r"Too large to run here\."),
        (InputError("**x**:red[y] is no tensor"), r"\*\*x\*\*\:red\[y\] is no tensor"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_in_which_no_strangers_words_act(
    problem: Exception, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "run_sentence", Mock(side_effect=problem))
    app = open_page("attention")
    assert [error.value for error in app.error] == [shown]
    assert not charts(app)


def test_a_busy_server_says_so() -> None:
    with other_services(turns=Turns(n=1, timeout=0.01)) as busy, busy.turns.take():
        app = open_page("attention", text="a sentence that nobody has run before")
    assert len(app.error) == 1


def test_padding_is_counted_beside_the_tokens() -> None:
    app = open_page("norms", text="short\nquite a bit longer than that")
    assert "3 tokens + 5 padding" in captions(app)


def test_changed_text_is_told() -> None:
    assert "Control characters were replaced by spaces." in sentences(open_page(text="bell\x07"))


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Das Tier hat die Straße nicht überquert.", True),
        ("動物は道を渡らなかった", True),
        ("Zoë drank coffee in a café in São Paulo.", False),
    ],
)
def test_a_page_says_once_that_the_trained_model_reads_english_only(text: str, is_told: bool) -> None:
    app = open_page("attention", text=text)
    assert sentences(app).count("English only") == is_told
    assert sentences(working(app.switch_page("../../pages/similarity.py").run())).count("English only") == is_told
    assert "English only" not in sentences(open_page("attention", text=text, weights="random", tokenizer="char"))


@pytest.mark.parametrize(
    ("changes", "kept", "reasons"),
    [
        ({}, 256, ("no more than 256 tokens", "`max_len` is 512")),
        ({"weights": "random", "max_len": 16, "tokenizer": "word"}, 16, ("its `max_len` is 16",)),
        (
            {"weights": "random", "positions": "none", "tokenizer": "word"},
            256,
            ("no more than 256 tokens of a sentence.",),
        ),
    ],
    ids=str,
)
def test_a_cut_sentence_says_whose_limit_has_cut_it(
    changes: dict[str, object], kept: int, reasons: tuple[str, ...]
) -> None:
    told = sentences(open_page("norms", text="and the " * 200, **changes))
    assert f"cut after {kept} tokens" in told
    assert all(reason in told for reason in reasons)
