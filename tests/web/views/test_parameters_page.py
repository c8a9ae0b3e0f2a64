"""The Parameters page counts the model that the sidebar or a name describes, and never runs one."""

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.accounting import Count, attention_overtakes, count_flops, count_memory, count_parameters
from playground.accounting.readable import in_units, times
from playground.presets import PRESETS
from playground.web.session import caches

TRAINED = PRESETS["minilm-l6"].config
SMALL = {
    "weights": "random",
    "tokenizer": "char",
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 64,
    "max_len": 64,
}
SMALL_CONFIG = replace(TRAINED, vocab_size=97, d_model=16, n_heads=4, n_layers=2, d_ff=64, max_len=64)


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("this page only counts")

    monkeypatch.setattr(caches, "run_sentence", refuse)


def open_page(**query: object) -> AppTest:
    app = AppTest.from_file("../../../playground/web/app.py", default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = str(value).lower() if isinstance(value, bool) else str(value)
    app.switch_page("../../pages/parameters.py").run()
    assert not app.exception
    assert not app.error
    return app


def figures(app: AppTest) -> list[Any]:
    """The charts' specifications from top to bottom: parameters, FLOPs, FLOPs by length, named models."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def numbers(array: Any) -> NDArray[np.float64]:
    """An array of a chart, which travels as base64."""
    return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).astype(np.float64)


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.caption)


def check(app: AppTest, config: ModelConfig, n_tokens: int) -> None:
    """Compare the page with counts made here."""
    built = sum(parameter.numel() for parameter in Encoder(config, seed=None).parameters())
    flops = count_flops(config, n_tokens)
    bert = sum(parameter.numel() for parameter in Encoder(PRESETS["bert-base"].config, seed=None).parameters())
    assert [metric.value for metric in app.metric] == [
        f"{built:,}",
        times(built / bert),
        in_units(flops.total, "FLOPs"),
    ]
    assert app.metric[2].label == f"Forward pass, {n_tokens} tokens"
    assert captions(app).count(f"{built:,}") >= 2
    main, cost, by_length, _ = figures(app)
    assert sum(float(numbers(trace["x"])[0]) for trace in main["data"]) == built
    assert sum(float(numbers(trace["x"])[0]) for trace in cost["data"]) == flops.total
    notes = [note["text"] for note in by_length["layout"]["annotations"]]
    assert notes == [f"this sentence: {n_tokens:,}", f"attention overtakes: {attention_overtakes(config):,}"]
    formulas, memory = (frame.value for frame in app.dataframe)
    assert formulas["total"].sum() == built
    assert list(memory["size"]) == [in_units(row.n_bytes, "B") for row in count_memory(config, n_tokens)]


def test_the_default_is_the_trained_model_and_the_sentence() -> None:
    app = open_page()
    check(app, TRAINED, 16)
    assert app.title[0].value == "Where do the parameters sit?"
    assert "Most sit in the embeddings: 53 %" in captions(app)
    assert "Blocks: 6 × 1,774,464" in captions(app)
    assert "The 22.7 M often quoted" in captions(app)
    assert "384² + 384 = 147,840" in captions(app)
    assert "1,536 − 2 · 384 = 768 tokens: from T = 769" in captions(app)


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


@pytest.mark.parametrize("text", ["one\nseventeen letters\ntwo", "<script>€ \u202e عربى 🧭</script>", "x" * 500])
def test_any_text(text: str) -> None:
    longest = max(len(line) for line in text.split("\n"))
    check(open_page(**SMALL, text=text), SMALL_CONFIG, min(longest, SMALL_CONFIG.max_len))


def test_padding_counts_and_another_sentence_costs_the_same() -> None:
    text = "short\nthe longest of these"
    for sentence in (1, 2):
        check(open_page(**SMALL, text=text, sentence=sentence), SMALL_CONFIG, 20)


@pytest.mark.parametrize("text", ["", " \n \t", "\x00\x01"])
def test_blank_text_is_counted_at_an_example_length(text: str) -> None:
    app = open_page(**SMALL, text=text)
    check(app, SMALL_CONFIG, 16)
    assert "there is no sentence" in captions(app)


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


@pytest.mark.parametrize(("view", "kind"), [("components", "bar"), ("treemap", "treemap"), ("layers", "bar")])
def test_views_show_the_same_total(view: str, kind: str) -> None:
    app = open_page(**SMALL, parameters_view=view)
    total = count_parameters(SMALL_CONFIG).total
    data = figures(app)[0]["data"]
    assert {trace["type"] for trace in data} == {kind}
    if view == "treemap":
        assert numbers(data[0]["values"])[0] == total
    else:
        assert sum(numbers(trace["x" if view == "components" else "y"]).sum() for trace in data) == total


def test_choosing_a_model_or_view_redraws_the_chart() -> None:
    app = open_page()
    app.selectbox(key="parameters_model").select("bert-base").run()
    check(app, PRESETS["bert-base"].config, 16)
    app.segmented_control(key="parameters_view").set_value("treemap").run()
    assert not app.exception
    assert numbers(figures(app)[0]["data"][0]["values"])[0] == count_parameters(PRESETS["bert-base"].config).total


def test_heads_are_counted_to_cost_nothing() -> None:
    app = open_page(**SMALL)
    said = next(text.value for text in app.markdown if "More heads" in text.value)
    counts = {count_parameters(replace(SMALL_CONFIG, n_heads=n)).total for n in (2, 4, 8)}
    assert f"With 2, 4, 8 heads: {counts.pop():,} parameters each time." in said
    assert not counts
    assert "d_model / n_heads = 16 / 4 = 4 features" in said


def test_a_formula_that_differs_from_the_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "playground.accounting.count_parameters", lambda config: Count(count_parameters(config).terms[:-1])
    )
    app = AppTest.from_file("../../../playground/web/app.py", default_timeout=60)
    app.switch_page("../../pages/parameters.py").run()
    assert not app.exception
    assert f"the built model holds {count_parameters(TRAINED).total:,}" in app.error[0].value
    assert "numel()" not in captions(app)


def test_tables_open_with_the_charts_numbers() -> None:
    app = open_page(**SMALL, text="0123456789")
    for key in ("flops_breakdown", "flops_by_length", "named_models"):
        app.session_state[f"{key}_open"] = True
    app.run()
    assert not app.exception
    tables = [frame.value for frame in app.dataframe]
    _, flops, by_length, _, models = tables
    assert flops["total"].sum() == count_flops(SMALL_CONFIG, 10).total
    assert (by_length["attention"] > by_length["feed_forward"]).tolist() == [
        n_tokens >= attention_overtakes(SMALL_CONFIG) for n_tokens in by_length.index
    ]
    assert models["parameters"]["gpt-3"] == count_parameters(PRESETS["gpt-3"].config).total
    assert models["this one over it"]["this model"] == 1
    assert "GPT-2's and GPT-3's blocks are counted as an encoder's" in captions(app)


def test_the_code_is_the_running_code() -> None:
    app = open_page()
    app.session_state["parameters_code"] = True
    app.run()
    assert any("def count_flops(" in block.value for block in app.code)
