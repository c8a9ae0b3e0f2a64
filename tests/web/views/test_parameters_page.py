"""The Parameters page counts the model that the sidebar or a name describes, and never runs one."""

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.accounting import Count, attention_overtakes, count_flops, count_memory, count_parameters
from playground.accounting.readable import in_units, times
from playground.presets import PRESETS
from playground.web.session import caches
from tests.web import app_test
from tests.web.app_test import array, captions, charts, choose, open_panels, table

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
    return app_test.open_page("parameters", **query)


def summed(traces: list[dict[str, Any]], axis: str = "x") -> float:
    """What all of a chart's bars add up to."""
    return sum(float(array([trace], name=axis).sum()) for trace in traces)


def check(app: AppTest, config: ModelConfig, n_tokens: int) -> None:
    """Compare the page with counts made here."""
    assert not app.error
    built = sum(parameter.numel() for parameter in Encoder(config, seed=None).parameters())
    flops = count_flops(config, n_tokens)
    bert = sum(parameter.numel() for parameter in Encoder(PRESETS["bert-base"].config, seed=None).parameters())
    assert [metric.value for metric in app.metric] == [
        f"{built:,}",
        times(built / bert),
        in_units(flops.total, "FLOPs"),
    ]
    assert f"{n_tokens} tokens" in app.metric[2].label
    assert captions(app).count(f"{built:,}") >= 2
    assert summed(charts(app)["parameter_breakdown"]) == built
    assert summed(charts(app)["flops_breakdown"]) == flops.total
    by_length = json.loads(app.get("plotly_chart")[2].proto.spec)
    notes = [note["text"].split(": ")[1] for note in by_length["layout"]["annotations"]]
    assert notes == [f"{n_tokens:,}", f"{attention_overtakes(config):,}"]
    formulas, memory = (frame.value for frame in app.dataframe)
    assert formulas["total"].sum() == built
    assert list(memory["size"]) == [in_units(row.n_bytes, "B") for row in count_memory(config, n_tokens)]


def test_memory_of_a_text_of_several_sentences_is_that_of_one_and_says_so() -> None:
    shown = table(open_page(text="a b c\nd e f"), "memory for").iloc[-1]
    assert (shown["memory for"], shown["formula, in bytes"]) == (
        "every attention pattern of one sentence, fp32",
        "4 · n_layers · n_heads · T²",
    )
    assert shown["with these numbers"] == "4 · 6 · 12 · 5²"
    assert shown["size"] == in_units(4 * 6 * 12 * 5**2, "B")


def test_the_default_is_the_trained_model_and_the_sentence() -> None:
    app = open_page()
    check(app, TRAINED, 16)
    for number in ("embeddings, 53 %", "6 × 1,774,464", "22.7 M", "384² + 384 = 147,840", "1,536 − 2 · 384 = 768"):
        assert number in captions(app)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"n_layers": 1},
        {"n_heads": 1},
        {"norm": "none"},
        {"norm": "rms", "final_norm": True, "norm_placement": "pre"},
        {"norm": "scalar", "fused_qkv": True, "positions": "none"},
        {"d_ff": 8, "n_segments": 0},
    ],
    ids=str,
)
def test_any_architecture(changes: dict[str, Any]) -> None:
    check(open_page(**{**SMALL, **changes}, text="0123456789"), replace(SMALL_CONFIG, **changes), 10)


@pytest.mark.parametrize(
    ("query", "n_tokens"),
    [
        ({"text": "<script>€ \u202e عربى 🧭</script>"}, 27),
        ({"text": "x" * 500}, 64),
        ({"text": "short\nthe longest of these", "sentence": 1}, 20),
        ({"text": "short\nthe longest of these", "sentence": 2}, 20),
        ({"text": ""}, 16),
        ({"text": " \n \t"}, 16),
        ({"text": "\x00\x01"}, 16),
    ],
    ids=["scripts", "cut", "padded", "longest", "empty", "blank", "control"],
)
def test_any_text_or_an_example_length_without_one(query: dict[str, Any], n_tokens: int) -> None:
    app = open_page(**SMALL, **query)
    check(app, SMALL_CONFIG, n_tokens)
    assert ("there is no sentence" in captions(app)) == (n_tokens == 16)


def test_no_words_are_no_embeddings() -> None:
    app = open_page(**{**SMALL, "tokenizer": "word"}, text="", positions="none", n_segments=0)
    check(app, replace(SMALL_CONFIG, vocab_size=0, positions="none", n_segments=0), 16)
    assert "embeddings" not in app.dataframe[0].value["component"].tolist()


@pytest.mark.parametrize("name", PRESETS)
def test_a_named_model_is_counted_instead_of_the_sidebars(name: str) -> None:
    config = PRESETS[name].config
    app = open_page(parameters_model=name)
    check(app, config, min(16, config.max_len))
    assert PRESETS[name].title in captions(app)
    assert ("cut from 16 at max_len" in captions(app)) == (config.max_len < 16)


def test_a_model_far_over_the_budget_is_counted() -> None:
    gpt3: dict[str, Any] = {"d_model": 12288, "n_heads": 96, "n_layers": 96, "d_ff": 49152, "max_len": 2048}
    app = open_page(weights="random", tokenizer="char", **gpt3)
    check(app, replace(TRAINED, vocab_size=97, **gpt3), 60)


def test_every_view_of_every_choice_of_model_shows_the_same_total() -> None:
    app = choose(open_page(), parameters_model="bert-base")
    check(app, PRESETS["bert-base"].config, 16)
    total = count_parameters(PRESETS["bert-base"].config).total
    assert summed(charts(choose(app, parameters_view="layers"))["parameter_breakdown"], "y") == total
    (treemap,) = charts(choose(app, parameters_view="treemap"))["parameter_breakdown"]
    assert array([treemap], name="values")[0] == total


def test_heads_are_counted_to_cost_nothing() -> None:
    app = open_page(**SMALL)
    (count,) = {count_parameters(replace(SMALL_CONFIG, n_heads=n)).total for n in (2, 4, 8)}
    (explanation,) = [text.value for text in app.markdown if "d_head" in text.value]
    for number in (f"2, 4, 8 heads: {count:,} parameters", "d_model / n_heads = 16 / 4 = 4 features"):
        assert number in explanation


def test_a_formula_that_differs_from_the_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "playground.accounting.count_parameters", lambda config: Count(count_parameters(config).terms[:-1])
    )
    app = open_page()
    assert f"the built model holds {count_parameters(TRAINED).total:,}" in app.error[0].value
    assert "numel()" not in captions(app)


def test_tables_and_code_open() -> None:
    app = open_page(**SMALL, text="0123456789")
    open_panels(app, "flops_breakdown_open", "flops_by_length_open", "named_models_open", "parameters_code")
    _, flops, by_length, _, models = [frame.value for frame in app.dataframe]
    assert flops["total"].sum() == count_flops(SMALL_CONFIG, 10).total
    assert (by_length["attention"] > by_length["feed_forward"]).tolist() == [
        n_tokens >= attention_overtakes(SMALL_CONFIG) for n_tokens in by_length.index
    ]
    assert models["parameters"]["gpt-3"] == count_parameters(PRESETS["gpt-3"].config).total
    assert models["this one over it"]["this model"] == 1
    assert any("def count_flops(" in block.value for block in app.code)


def test_a_sentence_of_one_token_is_no_length_from_which_attention_costs_more() -> None:
    small, usual = (captions(open_page(**SMALL | {"d_ff": d_ff})) for d_ff in (8, 64))
    assert ("at every length" in small, "from T = 1 on" in small) == (True, False)
    assert ("at every length" in usual, "from T = 33 on" in usual) == (False, True)
