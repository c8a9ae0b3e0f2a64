"""The attention page draws the very weights of the head that the link names, in every view."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, open_link
from playground.charts.names import token_labels
from playground.runs.encoder_run import Run, run
from playground.text import characters
from tests.web import app_test
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    charts,
    choose,
    open_page,
    sentences,
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
