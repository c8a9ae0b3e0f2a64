"""The attention page draws the very weights of the head that the link names, in every view."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.analysis.attention import mean_entropy, rollout
from playground.figures.theme import token_labels
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.web.choices.params import write
from playground.web.components.head_lines import head_lines
from tests.web import app_test
from tests.web.app_test import SMALL_CONFIG, array, captions, charts, open_page, sentences, working

SMALL = {**app_test.SMALL, "n_layers": "3", "seed": "7"}
TEXT = "a cat sat\na <b>rather</b> longer cat"


def computed(sentence: int = 0, *, causal: bool = False, **changes: Any) -> Run:
    """The run behind SMALL, made without the app."""
    config = ModelConfig(**SMALL_CONFIG | {"n_layers": 3} | changes)
    return run(Encoder(config, 7), characters().encode_batch(TEXT.split("\n")), sentence, causal=causal)


def heatmap(query: dict[str, str], **more: str) -> NDArray[Any]:
    """The large heatmap under a link."""
    app = working(open_page("attention", **SMALL, text=TEXT, **query, **more))
    assert sentences(app) == ""
    return array(charts(app)["attention_pattern"])


def masked(pattern: NDArray[np.float32], result: Run) -> NDArray[np.float32]:
    """A pattern as it is drawn: NaN where a query may not attend, and in the rows of padding."""
    return np.where(result.allowed & ~result.padding[:, None], pattern, np.float32(np.nan))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sentence", [0, 1])
def test_the_heatmap_is_the_chosen_head(sentence: int, causal: bool) -> None:
    result = computed(sentence, causal=causal)
    query = {"attention_layer": "2", "attention_head": "3", "sentence": str(sentence + 1), "causal": write(causal)}
    np.testing.assert_array_equal(heatmap(query), masked(result.patterns()[2, 3], result))


def test_names_are_the_tokens_and_cannot_be_markup() -> None:
    app = open_page("attention", **SMALL, text=TEXT, sentence="2")
    (trace,) = charts(app)["attention_pattern"]
    assert trace["x"] == trace["y"] == token_labels(computed(1).tokens)
    assert not any("<" in name for name in trace["x"])


def test_heads_are_averaged_and_subtracted() -> None:
    result = computed(1)
    patterns = result.patterns()
    layer = {"attention_layer": "1", "sentence": "2"}
    average = heatmap({**layer, "attention_show": "average of heads"})
    np.testing.assert_allclose(average, masked(patterns[1].mean(axis=0), result), atol=1e-7)
    difference = {"attention_show": "difference of two heads", "attention_head": "0", "attention_other": "2"}
    np.testing.assert_array_equal(heatmap({**layer, **difference}), masked(patterns[1, 0] - patterns[1, 2], result))


def test_special_tokens_and_padding_can_be_hidden() -> None:
    result = computed(0)
    shown = heatmap({"attention_hide": "true"})
    real = ~result.padding
    np.testing.assert_array_equal(shown, result.patterns()[2, 1][np.ix_(real, real)])


def test_hiding_special_tokens_hides_the_trained_models_own() -> None:
    app = open_page("attention", attention_hide="true", text="two words", attention_query="0")
    (trace,) = charts(app)["attention_pattern"]
    assert trace["x"] == ["two₁", "words₂"]
    assert "or less" in captions(app)
    assert "is hidden" in captions(app), "the query, [CLS], has no line in colour"


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_masked_cells_are_explained_where_there_are_any(causal: bool, hide: bool) -> None:
    app = open_page("attention", **SMALL, text=TEXT, attention_hide=write(hide), causal=write(causal))
    assert ("Grey" in captions(app)) == (causal or not hide), "what is hidden is padding"


@pytest.mark.parametrize("causal", [False, True])
def test_rollout_and_entropy_are_those_of_the_analysis(causal: bool) -> None:
    result = computed(1, causal=causal)
    query = {"text": TEXT, "sentence": "2", "causal": write(causal), "attention_layer": "2"}
    app = open_page("attention", **SMALL, **query, attention_view="rollout")
    np.testing.assert_allclose(array(charts(app)["attention_rollout"]), rollout(result.patterns())[2], atol=1e-6)
    app = open_page("attention", **SMALL, **query, attention_view="entropy", attention_head="3")
    bits = mean_entropy(result.patterns(), ~result.padding)
    np.testing.assert_allclose(array(charts(app)["attention_entropy"]), bits, atol=1e-6)
    assert f"{bits[2, 3]:.2f} bits" in captions(app)


def test_entropy_leaves_padding_and_masked_keys_out() -> None:
    result = computed(0)
    app = open_page("attention", **SMALL, text=TEXT, attention_view="entropy")
    bits = array(charts(app)["attention_entropy"])
    np.testing.assert_allclose(bits, mean_entropy(result.patterns(), ~result.padding), atol=1e-6)
    highest = np.log2((~result.padding).sum())
    assert bits.max() <= highest + 1e-5
    assert f"{highest:.2f} if every query" in captions(app)
    app = open_page("attention", **SMALL, text="abcd", causal="true", attention_view="entropy")
    assert f"{np.log2([1, 2, 3, 4]).mean():.2f} if every query" in captions(app)


@pytest.mark.parametrize(("token", "view"), [("*", "lines"), ("$", "ranking"), ("<", "lines")])
def test_a_caption_quotes_its_token(token: str, view: str) -> None:
    texts = {"tokenizer": "word", "text": f"x {token}", "attention_query": "1"}
    app = open_page("attention", **SMALL | texts, attention_view=view)
    assert f"`{token}` at position 1" in captions(app)
    assert any(f"Query: `{token}` at position 1" in markdown.value for markdown in app.markdown)


def test_the_ranking_is_the_chosen_querys_row() -> None:
    result = computed(1)
    app = open_page(
        "attention", **SMALL, text=TEXT, sentence="2", attention_view="ranking", attention_query="4",
        attention_layer="0", attention_head="2",
    )  # fmt: skip
    traces = charts(app)["attention_ranking"]
    row = np.sort(result.patterns()[0, 2, 4])[::-1]
    np.testing.assert_array_equal(array(traces, name="x"), row[: len(traces[0]["y"])])
    assert token_labels(result.tokens)[int(result.patterns()[0, 2, 4].argmax())] == traces[0]["y"][0]


@pytest.mark.parametrize("view", ["lines", "ranking", "entropy", "rollout"])
@pytest.mark.parametrize(
    "query",
    [
        {"text": "\u200b", "attention_hide": "true"},
        {"text": "x", "weights": "random", "tokenizer": "word", "n_layers": "1", "n_heads": "1"},
        {"text": "$x$ `y` **z** :red[w] <b>", "attention_query": "3"},
        {"text": "🙂 שלום مرحبا\x00"},
        {"text": "a\nb c d e", "causal": "true", "attention_hide": "true", "attention_stretch": "true"},
        {"weights": "random", "norm": "none", "residual": "false", "attention_show": "average of heads"},
    ],
    ids=["special tokens", "one token", "markup", "scripts", "padded", "bare"],
)
def test_every_view_opens_on_odd_texts(query: dict[str, str], view: str) -> None:
    app = working(open_page("attention", **query, attention_view=view))
    assert not app.error
    lines = {"attention_lines": drawn_lines(app)} if view == "lines" else {}
    assert {**charts(app), **lines}.keys() == {"attention_grid", "attention_pattern", f"attention_{view}"}


def drawn_lines(app: AppTest) -> dict[str, Any]:
    """What the browser draws the lines from."""
    (drawing,) = [one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith("head_lines")]
    data: dict[str, Any] = json.loads(drawing.json)
    return data


def test_the_lines_are_the_chosen_heads() -> None:
    result = computed(1)
    app = open_page("attention", **SMALL, text=TEXT, sentence="2", attention_layer="1", attention_head="2")
    drawn = drawn_lines(app)
    expected = head_lines(result.patterns()[1, 2], result.tokens, 10, shown=~result.padding)
    assert drawn["names"] == expected.names
    assert "<₂" in drawn["names"]  # as it was typed: the browser puts it in as text
    edges = [[list(edge) for edge in stroke.edges] for stroke in expected.strokes]
    assert [stroke["edges"] for stroke in drawn["strokes"]] == edges
    assert "query 10" in drawn["alt"]


@pytest.mark.parametrize("key", ["attention_layer", "attention_head", "attention_query"])
def test_a_number_past_the_last_is_moved_there_with_a_sentence(key: str) -> None:
    last = {"attention_layer": 2, "attention_head": 3, "attention_query": 8}[key]
    app = working(open_page("attention", **SMALL, text="a cat sat", **{key: "50"}))
    assert app.slider(key=key).value == last
    assert f"{key}=50" in sentences(app)
    assert app.query_params["seed"] in ("7", ["7"])


def test_a_layer_stays_within_a_model_that_shrinks() -> None:
    app = open_page("attention", **SMALL, text=TEXT, attention_layer="2")
    app.select_slider(key="n_layers").set_value(2).run()
    assert not app.exception
    assert app.slider(key="attention_layer").value == 1
    result = computed(0, n_layers=2)
    shown = array(charts(app)["attention_pattern"])
    np.testing.assert_array_equal(shown, masked(result.patterns()[1, 1], result))


def test_too_many_attention_weights_are_refused_in_one_sentence() -> None:
    app = working(open_page(
        "attention", text="many words " * 180, weights="random", tokenizer="char", d_model="96", n_heads="96", d_ff="8",
        n_layers="6",
    ))  # fmt: skip
    assert "numbers, and this server keeps at most" in app.error[0].value
