"""The Parameters page counts the model that the sidebar or a name describes, and never runs one."""

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.accounting import attention_overtakes, count_flops
from playground.accounting.readable import in_units
from playground.presets import PRESETS
from playground.web.session import caches
from tests.web import app_test
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    component_data,
    open_panels,
    table,
    without_error,
)

TRAINED = PRESETS["minilm-l6"].config
SMALL = {"weights": "random", "tokenizer": "char", "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 64,
         "max_len": 64}  # fmt: skip
SMALL_CONFIG = replace(TRAINED, vocab_size=97, d_model=16, n_heads=4, n_layers=2, d_ff=64, max_len=64)


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("this page only counts")

    monkeypatch.setattr(caches, "run_sentence", refuse)


def open_page(**query: object) -> AppTest:
    """With every panel open."""
    folds = {f"parameters_{name}": True for name in ("formulas", "costs", "models", "bought")}
    return app_test.open_page("parameters", **folds, **query)


def check(app: AppTest, config: ModelConfig, n_tokens: int) -> None:
    """Compare what the page counts with a model that is built here, and with this many tokens."""
    assert not app.error
    assert "so does the built model" in captions(app)
    built = sum(parameter.numel() for parameter in Encoder(config, seed=None).parameters())
    assert app.metric[0].value == f"{built:,}"
    assert app.metric[2].value == in_units(count_flops(config, n_tokens).total, "FLOPs")
    assert f"{n_tokens} tokens" in app.metric[2].label
    assert sum(float(array([piece], name="x").sum()) for piece in charts(app)["parameter_breakdown"]) == built
    notes = json.loads(app.get("plotly_chart")[2].proto.spec)["layout"]["annotations"]
    assert [note["text"].split(": ")[1] for note in notes] == [f"{n_tokens:,}", f"{attention_overtakes(config):,}"]


def test_the_default_is_the_trained_model_and_the_sentence() -> None:
    check(open_page(), TRAINED, 16)


@pytest.mark.parametrize(
    ("query", "n_tokens"),
    [
        ({"text": "<script>€ \u202e عربى 🧭</script>"}, 27),
        ({"text": "x" * 500}, 64),
        ({"text": "short\nthe longest of these", "sentence": 1}, 20),
        ({"text": " \n \t"}, 16),
    ],
    ids=["scripts", "cut", "padded", "blank"],
)
def test_any_text_or_an_example_length_without_one(query: dict[str, Any], n_tokens: int) -> None:
    app = open_page(**SMALL, **query)
    check(app, SMALL_CONFIG, n_tokens)
    assert ("there is no sentence" in captions(app)) == (n_tokens == 16)


def test_words_without_a_table_are_counted_as_raw_vectors() -> None:
    app = open_page(**{**SMALL, "tokenizer": "word"}, text="", positions="none", n_segments=0)
    check(app, replace(SMALL_CONFIG, vocab_size=0, positions="none", n_segments=0), 16)
    assert "embeddings" not in table(app, "formula")["component"].tolist()


def test_memory_of_a_text_of_several_sentences_is_that_of_one() -> None:
    shown = table(open_page(text="a b c\nd e f"), "memory for").iloc[-1]
    assert shown["with these numbers"] == "4 · 6 · 12 · 5²"


def test_a_named_model_is_counted_instead_of_the_sidebars() -> None:
    app = open_page(parameters_model="tutorial-b", **SMALL)
    check(app, PRESETS["tutorial-b"].config, 60)
    assert PRESETS["tutorial-b"].title in captions(app)


def test_a_model_far_over_the_budget_is_counted() -> None:
    gpt3: dict[str, Any] = {"d_model": 12288, "n_heads": 96, "n_layers": 96, "d_ff": 49152, "max_len": 2048}
    check(open_page(weights="random", tokenizer="char", **gpt3), replace(TRAINED, vocab_size=97, **gpt3), 60)


def test_tables_and_code_open() -> None:
    app = open_page(**SMALL, text="0123456789")
    open_panels(app, "flops_breakdown_open", "flops_by_length_open", "named_models_open", "parameters_code")
    assert len(app.dataframe) == 5
    assert any("def count_flops(" in block.value for block in app.code)


def test_the_visitors_own_model_is_called_so_and_links_keep_its_name() -> None:
    app = open_page(parameters_model="gpt-2")
    menu = app.selectbox(key="parameters_model")
    assert menu.options[:2] == ["your settings (sidebar)", next(iter(PRESETS))]
    assert menu.value == "gpt-2"
    for model, in_link in (("bert-base", ["bert-base"]), ("sidebar", [])):
        without_error(choose(app, parameters_model=model))
        assert component_data(app, "address_guard")["parameters"]["parameters_model"] == in_link
