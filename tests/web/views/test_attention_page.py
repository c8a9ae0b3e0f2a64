"""The attention page draws the very weights of the head that the link names, in every view."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, open_link
from playground.charts.head_lines import head_lines
from playground.charts.names import token_labels
from playground.runs.encoder_run import Run, run
from playground.text import characters
from tests.web import app_test
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    drawn_lines,
    open_page,
    open_panels,
    sentences,
    table,
    without_error,
)

SMALL = {**app_test.SMALL, "n_layers": "3", "seed": "7"}
TEXT = "a cat sat\na <b>rather</b> longer cat"


def computed(sentence: int = 0, *, causal: bool = False, text: str = TEXT) -> Run:
    """The run behind SMALL, made without the app."""
    config = ModelConfig(**SMALL_CONFIG | {"n_layers": 3})
    return run(Encoder(config, 7), characters().encode_batch(text.split("\n")), sentence, causal=causal)


def page(**query: object) -> AppTest:
    return without_error(open_page("attention", **SMALL | {"text": TEXT, "attention_closer": True} | query))


def heatmap(app: AppTest) -> NDArray[Any]:
    """The numbers of the large heatmap: beside the colours, where those follow the square root."""
    assert sentences(app) == ""
    traces = charts(app)["attention_pattern"]
    return array(traces, name="customdata" if "customdata" in traces[0] else "z")


def masked(pattern: NDArray[np.float32], result: Run) -> NDArray[np.float32]:
    """A pattern as it is drawn: NaN where a query may not attend, and in the rows of padding."""
    return np.where(result.allowed & ~result.padding[:, None], pattern, np.float32(np.nan))


def test_the_heatmap_is_the_chosen_head_or_two_or_their_average() -> None:
    result = computed(0, causal=True)
    patterns = result.patterns()
    app = page(sentence=1, causal=True, layer=2, head=3)
    np.testing.assert_array_equal(heatmap(app), masked(patterns[2, 3], result))
    choose(app, attention_show="difference of two heads", attention_other=2)
    np.testing.assert_array_equal(heatmap(app), masked(patterns[2, 3] - patterns[2, 2], result))
    choose(app, attention_show="average of heads", layer=1)
    np.testing.assert_allclose(heatmap(app), masked(patterns[1].mean(axis=0), result), atol=1e-7)
    (trace,) = charts(app)["attention_pattern"]
    assert trace["x"] == trace["y"] == token_labels(result.tokens)
    assert not any("<" in name for name in trace["x"])


def test_special_tokens_and_padding_can_be_hidden() -> None:
    result = computed(0)
    real = ~result.padding
    np.testing.assert_array_equal(heatmap(page(attention_hide=True)), result.patterns()[2, 1][np.ix_(real, real)])


def test_hiding_special_tokens_hides_the_trained_models_own() -> None:
    app = open_page("attention", attention_hide="true", attention_view="lines", text="two words", query="0")
    (trace,) = charts(app)["attention_pattern"]
    assert trace["x"] == ["two₁", "words₂"]
    assert "or less" in captions(app)
    assert "is hidden" in captions(app), "the query, [CLS], has no line in colour"


@pytest.mark.long
def test_hidden_tokens_leave_thumbnails_tables_and_ranking() -> None:
    query: dict[str, Any] = {"text": "two words", "query": 1, "layer": 0, "head": 2}
    app = open_page("attention", attention_view="ranking", **query)
    assert array(charts(app)["attention_grid"]).shape == (6 * 5, 12 * 5), "4 tokens and a gap"
    row = array(charts(app)["attention_pattern"], name="customdata")[1]
    choose(app, attention_hide=True)
    assert array(charts(app)["attention_grid"]).shape == (6 * 3, 12 * 3)
    assert set(charts(app)["attention_ranking"][0]["y"]) == {"two₁", "words₂"}
    assert f"theirs add up to {row[[0, 3]].sum():.2f}" in captions(app)
    names = {"two₁", "words₂"}
    open_panels(app, "attention_pattern_open", "attention_grid_open", "attention_ranking_open")
    pattern, ranking, heads = (table(app, column) for column in ("two₁", "weight", "largest weight"))
    assert set(pattern.index) == set(pattern.columns) == set(ranking.index) == names
    assert set(heads["query"]) | set(heads["key"]) == names
    np.testing.assert_allclose(pattern.loc["two₁"], row[1:3], atol=1e-7)
    choose(app, attention_view="lines")
    open_panels(app, "attention_lines_open")
    assert set(table(app, "weight").index) == names
    choose(app, attention_view="rollout", attention_hide=False)
    open_panels(app, "attention_rollout_open")
    assert all(len(frame.value.columns) == 4 for frame in app.dataframe if "two₁" in frame.value)
    choose(app, attention_hide=True)
    assert all(set(frame.value.columns) == names for frame in app.dataframe if "two₁" in frame.value)


def test_entropies_count_special_tokens_and_say_so() -> None:
    app = open_page("attention", attention_view="entropy")
    bits = array(charts(app)["attention_entropy"])
    assert "Special tokens count" in captions(app)
    np.testing.assert_array_equal(array(charts(choose(app, attention_hide=True))["attention_entropy"]), bits)
    assert "Special tokens count" not in captions(page(attention_view="entropy")), "single characters have none"


@pytest.mark.parametrize("stretch", [False, True])
@pytest.mark.parametrize("colours", ["square root", "linear"])
def test_one_switch_changes_the_colours_of_thumbnails_and_large_map(colours: str, stretch: bool) -> None:
    """The link's `attention_stretch` ends the scale at the large map's largest weight, as it always has."""
    chosen = {"layer": 1, "head": 2, "text": "a cat sat"}
    app = page(attention_colours=colours, attention_stretch=stretch, **chosen)
    pattern = computed(text="a cat sat").patterns()[1, 2]
    (large,), thumbnails = charts(app)["attention_pattern"], array(charts(app)["attention_grid"])
    n = len(pattern)
    thumbnail = thumbnails[n + 1 : 2 * n + 1, 2 * (n + 1) : 3 * (n + 1) - 1]
    top = pattern.max() if stretch else 1
    places = (pattern / top) ** (0.5 if colours == "square root" else 1)
    np.testing.assert_allclose(thumbnail / 255, places, atol=1 / 255)
    np.testing.assert_allclose(
        array([large]) / large["zmax"], places, atol=1 / 512 if colours == "square root" else 1e-6
    )
    assert (f"from {top:.2g} on" in captions(app)) == stretch


def test_a_long_sentence_has_lines_for_the_tokens_around_the_query() -> None:
    app = page(text="ab" * 128, query=200)
    drawn = drawn_lines(app)
    assert len(drawn["names"]) * drawn["row_height"] <= 1_500
    assert "b₁₉₉" in drawn["names"]
    assert f"Of 256 tokens, the {len(drawn['names'])} nearest to the query are drawn" in captions(app)


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_masked_cells_are_explained_where_there_are_any(causal: bool, hide: bool) -> None:
    app = page(attention_hide=hide, causal=causal)
    assert ("Grey" in captions(app)) == (causal or not hide), "what is hidden is padding"


@pytest.mark.parametrize(
    ("changes", "is_wrong"),
    [({}, False), ({"head_merge": "reshape"}, True), ({"head_merge": "reshape", "n_heads": 1}, False)],
    ids=str,
)
def test_rollout_says_where_the_merge_makes_it_wrong(changes: dict[str, Any], is_wrong: bool) -> None:
    warning = "**Rollout is wrong here**"
    app = page(attention_view="rollout", **changes)
    assert (warning in captions(app)) == is_wrong
    if is_wrong:
        pinned = page(attention_view="rollout", pinned=True, b_head_merge="reshape")
        assert captions(pinned).count(warning) == 1, "of the pinned run alone"


@pytest.mark.parametrize(("token", "view"), [("*", "lines"), ("$", "ranking"), ("<", "lines")])
def test_a_caption_quotes_its_token(token: str, view: str) -> None:
    app = page(tokenizer="word", text=f"x {token}", query=1, attention_view=view)
    assert f"`{token}` at position 1" in captions(app)


def test_the_lines_are_the_chosen_heads() -> None:
    result = computed(1)
    app = page(sentence=2, layer=1, head=2, query=10)
    drawn = drawn_lines(app)
    expected = head_lines(result.patterns()[1, 2], result.tokens, 10, 2, shown=~result.padding)
    assert drawn["names"] == expected.names
    assert "<₂" in drawn["names"]  # as it was typed: the browser puts it in as text
    edges = [[list(edge) for edge in stroke.edges] for stroke in expected.strokes]
    assert [stroke["edges"] for stroke in drawn["strokes"]] == edges
    assert "query 10" in drawn["alt"]


@pytest.mark.parametrize(
    ("chosen", "panel"),
    [
        ({"attention_colours": "linear"}, "attention_drawing"),
        ({"attention_why": "products"}, "attention_steps"),
        ({"attention_view": "ranking"}, "attention_closer"),
    ],
    ids=str,
)
def test_a_link_opens_the_panel_that_it_needs(chosen: dict[str, str], panel: str) -> None:
    closed = {"attention_drawing": False, "attention_steps": False, "attention_closer": False}
    assert {key: open_page("attention", **SMALL).session_state[key] for key in closed} == closed
    app = without_error(open_page("attention", **SMALL, **chosen))
    assert {key: app.session_state[key] for key in closed} == closed | {panel: True}
    link = "&".join(f"{key}={value}" for key, value in chosen.items())
    assert {key: open_link(f"attention?{link}").values[key] for key in closed} == closed | {panel: True}
    assert not open_page("attention", **SMALL, **chosen, **{panel: "false"}).session_state[panel]
