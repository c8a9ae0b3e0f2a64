"""The Parameters page counts the model that the sidebar or a name describes, and never runs one."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.accounting import count_flops
from playground.accounting.readable import in_units
from playground.presets import PRESETS
from playground.web.session import caches
from tests.web import app_test
from tests.web.app_test import SMALL, array, captions, charts, component_data, without_error

TRAINED = PRESETS["minilm-l6"].config
GPT_3: dict[str, Any] = {"d_model": 12288, "n_heads": 96, "n_layers": 96, "d_ff": 49152, "max_len": 2048}


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("this page only counts")

    monkeypatch.setattr(caches, "run_sentence", refuse)


def open_page(**query: object) -> AppTest:
    """With every panel open."""
    folds = {f"parameters_{name}": True for name in ("formulas", "costs", "models", "bought")}
    return app_test.open_page("parameters", **folds, **query)


@pytest.mark.parametrize(
    ("query", "config", "n_tokens"),
    [
        ({}, TRAINED, 16),
        ({"text": "short\nthe longest of these", "sentence": 1}, TRAINED, 6),
        ({"weights": "random", "tokenizer": "char", **GPT_3}, replace(TRAINED, vocab_size=97, **GPT_3), 60),
    ],
    ids=["default", "padded", "far over the budget"],
)
def test_what_is_counted_is_the_built_model(query: dict[str, Any], config: ModelConfig, n_tokens: int) -> None:
    app = without_error(open_page(**query))
    built = sum(parameter.numel() for parameter in Encoder(config, seed=None).parameters())
    assert f"**{in_units(count_flops(config, n_tokens).total, 'FLOPs')}**" in captions(app)
    assert sum(float(array([piece], name="x").sum()) for piece in charts(app)["parameter_breakdown"]) == built
    assert not app.error


def test_the_visitors_own_model_is_called_so_and_links_keep_its_name() -> None:
    app = open_page(parameters_model="gpt-2", **SMALL)
    assert app.selectbox(key="parameters_model_menu").options[:2] == ["your settings", next(iter(PRESETS))]
    for model, in_link in (("bert-base", ["bert-base"]), ("sidebar", [])):
        without_error(app.selectbox(key="parameters_model_menu").select(model).run())
        assert component_data(app, "address_guard")["parameters"].get("parameters_model", []) == in_link
