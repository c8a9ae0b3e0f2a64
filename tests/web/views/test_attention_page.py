"""The attention page draws the very weights of the head that the link names, in every view."""

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
from playground.web.components.head_lines import head_lines
from tests.web import app_test
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    drawn_lines,
    open_page,
    prose,
    sentences,
    without_error,
)

SMALL = {**app_test.SMALL, "n_layers": "3", "seed": "7"}
TEXT = "a cat sat\na <b>rather</b> longer cat"


def computed(sentence: int = 0, *, causal: bool = False, **changes: Any) -> Run:
    """The run behind SMALL, made without the app."""
    config = ModelConfig(**SMALL_CONFIG | {"n_layers": 3} | changes)
    return run(Encoder(config, 7), characters().encode_batch(TEXT.split("\n")), sentence, causal=causal)


def page(**query: object) -> AppTest:
    return without_error(open_page("attention", **SMALL | {"text": TEXT} | query))


def heatmap(app: AppTest) -> NDArray[Any]:
    """The large heatmap."""
    assert sentences(app) == ""
    return array(charts(app)["attention_pattern"])


def masked(pattern: NDArray[np.float32], result: Run) -> NDArray[np.float32]:
    """A pattern as it is drawn: NaN where a query may not attend, and in the rows of padding."""
    return np.where(result.allowed & ~result.padding[:, None], pattern, np.float32(np.nan))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sentence", [0, 1])
def test_the_heatmap_is_the_chosen_head_or_two_or_their_average(sentence: int, causal: bool) -> None:
    result = computed(sentence, causal=causal)
    patterns = result.patterns()
    app = page(sentence=sentence + 1, causal=causal, attention_layer=2, attention_head=3)
    np.testing.assert_array_equal(heatmap(app), masked(patterns[2, 3], result))
    choose(app, attention_show="difference of two heads", attention_other=2)
    np.testing.assert_array_equal(heatmap(app), masked(patterns[2, 3] - patterns[2, 2], result))
    choose(app, attention_show="average of heads", attention_layer=1)
    np.testing.assert_allclose(heatmap(app), masked(patterns[1].mean(axis=0), result), atol=1e-7)
    (trace,) = charts(app)["attention_pattern"]
    assert trace["x"] == trace["y"] == token_labels(result.tokens)
    assert not any("<" in name for name in trace["x"])


def test_special_tokens_and_padding_can_be_hidden() -> None:
    result = computed(0)
    real = ~result.padding
    np.testing.assert_array_equal(heatmap(page(attention_hide=True)), result.patterns()[2, 1][np.ix_(real, real)])


def test_hiding_special_tokens_hides_the_trained_models_own() -> None:
    app = open_page("attention", attention_hide="true", text="two words", attention_query="0")
    (trace,) = charts(app)["attention_pattern"]
    assert trace["x"] == ["two₁", "words₂"]
    assert "or less" in captions(app)
    assert "is hidden" in captions(app), "the query, [CLS], has no line in colour"


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_masked_cells_are_explained_where_there_are_any(causal: bool, hide: bool) -> None:
    app = page(attention_hide=hide, causal=causal)
    assert ("Grey" in captions(app)) == (causal or not hide), "what is hidden is padding"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sentence", [0, 1])
def test_rollout_and_entropy_are_those_of_the_analysis(sentence: int, causal: bool) -> None:
    result = computed(sentence, causal=causal)
    app = page(sentence=sentence + 1, causal=causal, attention_layer=2, attention_view="rollout", attention_head=3)
    real = np.ix_(~result.padding, ~result.padding)
    expected = rollout(result.patterns())[2][real]
    np.testing.assert_allclose(array(charts(app)["attention_rollout"])[real], expected, atol=1e-6)
    choose(app, attention_view="entropy")
    bits, n_real = mean_entropy(result.patterns(), ~result.padding), int((~result.padding).sum())
    np.testing.assert_allclose(array(charts(app)["attention_entropy"]), bits, atol=1e-6)
    assert f"{bits[2, 3]:.2f} bits" in captions(app)
    highest = np.log2(np.arange(1, n_real + 1)).mean() if causal else np.log2(n_real)
    assert bits.max() <= highest + 1e-5
    assert f"{highest:.2f} if every query" in captions(app)


@pytest.mark.parametrize(("token", "view"), [("*", "lines"), ("$", "ranking"), ("<", "lines")])
def test_a_caption_quotes_its_token(token: str, view: str) -> None:
    app = page(tokenizer="word", text=f"x {token}", attention_query=1, attention_view=view)
    assert f"`{token}` at position 1" in captions(app)
    assert f"Query: `{token}` at position 1" in prose(app)


def test_the_ranking_is_the_chosen_querys_row() -> None:
    result = computed(1)
    app = page(sentence=2, attention_view="ranking", attention_query=4, attention_layer=0, attention_head=2)
    traces = charts(app)["attention_ranking"]
    row = np.sort(result.patterns()[0, 2, 4])[::-1]
    np.testing.assert_array_equal(array(traces, name="x"), row[: len(traces[0]["y"])])
    assert token_labels(result.tokens)[int(result.patterns()[0, 2, 4].argmax())] == traces[0]["y"][0]


def test_the_lines_are_the_chosen_heads() -> None:
    result = computed(1)
    app = page(sentence=2, attention_layer=1, attention_head=2)
    drawn = drawn_lines(app)
    expected = head_lines(result.patterns()[1, 2], result.tokens, 10, shown=~result.padding)
    assert drawn["names"] == expected.names
    assert "<₂" in drawn["names"]  # as it was typed: the browser puts it in as text
    edges = [[list(edge) for edge in stroke.edges] for stroke in expected.strokes]
    assert [stroke["edges"] for stroke in drawn["strokes"]] == edges
    assert "query 10" in drawn["alt"]
